import { expect, test } from 'vitest'
import { MemoryLog } from '../../adapters/memory/log.ts'
import { external } from '../../domain/external/aggregate.ts'
import { history } from '../../domain/stream/runtime/history.ts'
import { MemoryBlobs } from '../support/harness.ts'
import { BEFORE, NEW, Sealer } from '../support/log/sealing.ts'

const started = {
  type: 'external_started',
  body: { backend: 'acp', request: { prompt: 'look' }, capabilities: [] },
}
const ended = { type: 'external_ended', body: { outcome: 'unknown', reason: 'lost' } }

test.each([
  ['a missing blob', { ...ended, blob: true }, 'BLOB_MISSING'],
  ['an unknown type', { type: 'external_unheard' }, 'UNKNOWN_EVENT'],
])('the events before %s in the middle of a page are read', async (_, damaged, code) => {
  const log = new MemoryLog({ clock: BEFORE })
  await log.append('external-a', -1, new Sealer().batch('external-a', NEW, [started, damaged, ended]))
  const types: string[] = []
  const read = async () => {
    for await (const page of history({ log, blobs: new MemoryBlobs() }, external, 'external-a'))
      types.push(...page.map(({ event }) => event.type))
  }
  await expect(read()).rejects.toMatchObject({ code })
  expect(types).toEqual(['external_started'])
})
