import { expect, onTestFinished, test } from 'vitest'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { blockText } from '../../../domain/document/model/block.ts'
import { contextHash } from '../../../domain/document/model/context-hash.ts'
import { documentStream } from '../../../domain/document/stream/aggregate.ts'
import type { DocumentEvent } from '../../../domain/document/stream/events.ts'
import { Person } from '../../support/documents/person.ts'
import { ANN, DocumentGateway, eventsOf, made, portsOver, textsOf } from '../../support/documents/runtime.ts'
import { ToolDesk } from '../../support/documents/tools.ts'
import { BEFORE } from '../../support/log/sealing.ts'

function world(html = '<p>one</p><p>two</p>') {
  const log = new MemoryLog({ clock: BEFORE })
  const ports = portsOver(log)
  const gateway = new DocumentGateway(ports)
  onTestFinished(() => gateway.close())
  const tools = new ToolDesk(gateway)
  const requests = async (id: string) =>
    (await eventsOf(ports, documentStream(id))).filter(
      (event): event is Extract<DocumentEvent, { type: 'envelope_received' }> => event.type === 'envelope_received',
    )
  /** A person writes over the first letters of a block. */
  const person = async (id: string, text: string, at = 0) => {
    const bob = new Person('77', (await gateway.snapshot(id)).bytes)
    await gateway.import(
      id,
      bob.change(() => bob.text(at).insert(0, text)),
      ANN,
    )
  }
  return { ports, gateway, tools, requests, person, document: () => made(gateway, html) }
}

test('an edit is an envelope under the id of its call, with its run, call and cause', async () => {
  const { gateway, tools, requests, document } = world()
  const id = await document()
  const cause = { causationId: 'agent-a@7', correlationId: 'req' }
  const done = await tools.edit('a.t1.c0', await tools.replacement(id, '<b>uno</b>'), cause)
  expect(done.content).toMatchObject({ status: 'applied', client_request_id: 'a.t1.c0', retries: 0 })
  expect(done.documents).toEqual({ [id]: (await gateway.read(id)).frontier })
  expect(await requests(id)).toMatchObject([
    { runId: 'run1', toolCallId: 'a.t1.c0', causationId: 'agent-a@7', correlationId: 'req', actor: { id: 'a' } },
  ])
  const { sources } = await gateway.history.blame(id, Number.MAX_SAFE_INTEGER)
  expect(sources).toMatchObject([{}, { runId: 'run1', toolCallId: 'a.t1.c0', annotations: ['why'] }])
})

test('a call that is performed again after a crash applies its edit once, also where the document has moved on', async () => {
  const { tools, gateway, requests, person, document } = world()
  const id = await document()
  const args = await tools.replacement(id, 'uno')
  const first = await tools.edit('a.t1.c0', args)
  await person(id, 'x')
  expect(await tools.edit('a.t1.c0', args)).toEqual(first)
  expect(await textsOf(gateway, id)).toEqual(['xuno', 'two'])
  expect(await requests(id)).toHaveLength(1)
})

test('text that others have changed is given to the model; its new edit is the retry of the first request', async () => {
  const { tools, gateway, requests, person, document } = world()
  const id = await document()
  const stale = await tools.replacement(id, 'uno')
  await person(id, 'x')
  const { code, given } = await tools.failed('a.t1.c0', stale)
  const { blocks, frontier } = await gateway.read(id)
  const hash = contextHash(blocks[0]!.id!, blockText(blocks[0] as never))
  expect(code).toBe('CONFLICT')
  expect(given).toEqual({
    ...{ doc_id: id, retry_of: 'a.t1.c0', doc_frontier: frontier },
    spans: [{ span_id: blocks[0]!.id, state: 'changed', if_match_context_hash: hash, text: 'xone' }],
  })
  const again = {
    ...{ doc_id: id, ops_xml: stale.ops_xml, retry_of: given.retry_of, doc_frontier: given.doc_frontier },
    preconditions: [{ span_id: blocks[0]!.id, if_match_context_hash: hash }],
  }
  const done = await tools.edit('a.t2.c0', again)
  expect(done.content).toMatchObject({ client_request_id: 'a.t1.c0-retry-1', retries: 1 })
  expect(tools.clock.waits).toEqual([100])
  // The second performance of that call finds its own retry.
  expect(await tools.edit('a.t2.c0', again)).toEqual(done)
  expect((await requests(id)).map(({ body }) => body.retryOf)).toEqual([undefined, { first: 'a.t1.c0', retry: 1 }])
  expect(await textsOf(gateway, id)).toEqual(['uno', 'two'])
})

test('unchanged text is rebased without the model: a frontier that is not this document’s', async () => {
  const { tools, requests, document } = world()
  const id = await document()
  const args = { ...(await tools.replacement(id, 'uno')), doc_frontier: '4711:3' }
  expect((await tools.edit('a.t1.c0', args)).content).toMatchObject({
    ...{ client_request_id: 'a.t1.c0-retry-1', retries: 1 },
  })
  expect(tools.clock.waits).toEqual([100])
  const once = await tools.edit('a.t1.c0', args)
  expect(once.content).toMatchObject({ client_request_id: 'a.t1.c0-retry-1' })
  expect(await requests(id)).toHaveLength(2)
})

test('after three retries, each of them recorded, the call fails with RETRY_EXHAUSTED', async () => {
  const { tools, requests, person, document } = world()
  const id = await document()
  const stale = await tools.replacement(id, 'uno')
  await person(id, 'x')
  expect((await tools.failed('a.t1.c0', stale)).code).toBe('CONFLICT')
  const retry = { ...stale, retry_of: 'a.t1.c0' }
  for (const call of ['a.t2.c0', 'a.t3.c0']) expect((await tools.failed(call, retry)).code).toBe('CONFLICT')
  expect((await tools.failed('a.t4.c0', retry)).code).toBe('RETRY_EXHAUSTED')
  expect((await tools.failed('a.t5.c0', retry)).code).toBe('RETRY_EXHAUSTED')
  expect(tools.clock.waits).toEqual([100, 200, 400])
  expect((await requests(id)).map(({ body }) => body.retryOf?.retry ?? 0)).toEqual([0, 1, 2, 3])
})

test('only a conflict of the agent’s own request can be retried', async () => {
  const { tools, person, document } = world()
  const id = await document()
  const args = await tools.replacement(id, 'uno')
  expect(await tools.failed('a.t1.c0', { ...args, retry_of: 'a.t0.c0' })).toMatchObject({
    ...{ code: 'INVALID_ARGUMENTS', message: expect.stringContaining('no request "a.t0.c0"') },
  })
  await tools.edit('a.t1.c0', args)
  expect((await tools.failed('a.t2.c0', { ...args, retry_of: 'a.t1.c0' })).message).toContain('was applied')
  const stale = await tools.replacement(id, 'due', 1)
  await person(id, 'x', 1)
  await tools.failed('a.t3.c0', stale)
  expect((await tools.failed('b.t1.c0', { ...stale, retry_of: 'a.t3.c0' })).message).toContain('no request')
})

test.each([
  ['a schema violation', '<table><tr><td>x</td></tr></table>', 'AI_PAYLOAD_REJECTED_SCHEMA_VIOLATION'],
  ['a script', '<script>x</script>', 'AI_PAYLOAD_REJECTED_SANITIZE'],
  ['no XML', '<b>', 'INVALID_REQUEST'],
])('%s is refused, recorded and never retried', async (_, content, code) => {
  const { tools, requests, gateway, document } = world()
  const id = await document()
  const failed = await tools.failed('a.t1.c0', await tools.replacement(id, content))
  expect(failed).toMatchObject({ code: 'INVALID_ARGUMENTS', message: expect.stringContaining(code) })
  expect(await requests(id)).toHaveLength(1)
  expect(tools.clock.waits).toEqual([])
  expect(await textsOf(gateway, id)).toEqual(['one', 'two'])
})

test('a document that does not exist is RESOURCE_NOT_FOUND, for a reader too', async () => {
  const { tools, document } = world()
  const args = { ...(await tools.replacement(await document(), 'uno')), doc_id: 'nothere' }
  expect((await tools.failed('a.t1.c0', args)).code).toBe('RESOURCE_NOT_FOUND')
  await expect(tools.read('nothere')).rejects.toMatchObject({ code: 'RESOURCE_NOT_FOUND' })
})

test('a call makes one document, however often it is performed', async () => {
  const { tools, gateway } = world()
  const args = { title: 'Plan', content: '# Plan\n\nSteps' }
  const first = await tools.call('create_document', 'a.t1.c0', args)
  expect(await tools.call('create_document', 'a.t1.c0', args)).toEqual({
    ...first,
    content: { ...(first.content as object), diagnostics: [] },
  })
  const [id] = Object.keys(first.documents!)
  expect(await textsOf(gateway, id!)).toEqual(['Plan', 'Steps'])
})
