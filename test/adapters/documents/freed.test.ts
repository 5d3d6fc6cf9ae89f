import * as loro from 'loro-crdt'
import { expect, it } from 'vitest'
import { loroDocuments } from '../../../adapters/loro/documents.ts'
import { documentWith, GATEWAY } from '../../support/documents/gateway.ts'

// The collector of garbage does not see Loro's memory: a handle that is not freed by hand keeps its document.

const { memory } = (loro as unknown as { readonly __wasm: { readonly memory: { readonly buffer: ArrayBuffer } } })
  .__wasm
const megabytes = () => memory.buffer.byteLength / 1e6

it('documents that are opened, read and closed in turn take the memory of one', async () => {
  const { document, updates } = await documentWith(`<p>${'long text '.repeat(20_000)}</p><pre>code</pre>`)
  document.close()
  const look = async (discards: boolean) => {
    const opened = await loroDocuments.open({ gatewayPeer: GATEWAY, updates })
    expect(opened.blocks()).toHaveLength(2)
    if (discards) opened.edit([{ kind: 'delete', blockId: 'b2' }]).discard()
    opened.close()
  }
  for (const discards of [false, true]) {
    await look(discards)
    const before = megabytes()
    for (let n = 0; n < 40; n++) await look(discards)
    expect(megabytes() - before).toBeLessThan(10)
  }
})
