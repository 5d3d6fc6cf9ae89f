import { expect, onTestFinished, test } from 'vitest'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { replaced } from '../../../domain/stream/runtime/replace-member.ts'
import { ANN, DocumentGateway, made, portsOver, replaceFirst, requestFor } from '../../support/documents/runtime.ts'
import { BEFORE } from '../../support/log/sealing.ts'
import { MemoryRequestCache } from '../../support/models/memory-request-cache.ts'

test('a log that cannot empty an event refuses the erasure, and nothing is changed', async () => {
  const log = new MemoryLog({ clock: BEFORE })
  const gateway = new DocumentGateway(portsOver(replaced(log, 'erases', false)))
  onTestFinished(() => gateway.close())
  const id = await made(gateway, '<p>one</p>')
  await gateway.envelope(id, await requestFor(gateway, id, 'r1', replaceFirst('two')), ANN)
  const erasure = gateway.erase(id, { revision: 3, reason: 'private' }, ANN)
  await expect(erasure).rejects.toMatchObject({ code: 'ERASE_IMPOSSIBLE' })
  expect(await gateway.history.verify(id)).toMatchObject({ ok: true, erased: [], events: 4 })
})

test('a reason with a secret is refused', async () => {
  const log = new MemoryLog({ clock: BEFORE })
  const gateway = new DocumentGateway(portsOver(log, { holdsSecret: async (text) => text.includes('hunter2') }))
  onTestFinished(() => gateway.close())
  const id = await made(gateway, '<p>one</p>')
  const erasure = gateway.erase(id, { revision: 1, reason: 'it held hunter2' }, ANN)
  await expect(erasure).rejects.toMatchObject({ code: 'CONTENT_REFUSED' })
})

test('answers of models and past tables that may contain what was erased are removed', async () => {
  const cache = new MemoryRequestCache()
  let cleared = 0
  const log = new MemoryLog({ clock: BEFORE })
  const gateway = new DocumentGateway(portsOver(log, { cache, pastTables: { clear: async () => void cleared++ } }))
  onTestFinished(() => gateway.close())
  const id = await made(gateway, '<p>one</p>')
  await gateway.envelope(id, await requestFor(gateway, id, 'r1', replaceFirst('two')), ANN)
  await cache.put('key', 'two')
  await gateway.erase(id, { revision: 3, reason: 'private' }, ANN)
  expect([cache.held.size, cleared]).toEqual([0, 1])
})
