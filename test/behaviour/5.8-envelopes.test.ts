import { describe, expect, onTestFinished, test } from 'vitest'
import { documentTools } from '../../adapters/loro/tools/document-tools.ts'
import { MemoryLog } from '../../adapters/memory/log.ts'
import { contentFrom } from '../../api/operations/document/content.ts'
import { documentStream } from '../../domain/document/stream/aggregate.ts'
import type { JsonObject } from '../../domain/log/json.ts'
import { Person } from '../support/documents/person.ts'
import { ANN, DocumentGateway, eventsOf, made, portsOver, textsOf } from '../support/documents/runtime.ts'
import { Waits } from '../support/documents/tools.ts'
import { type Answer, call, calls, completes } from '../support/harness.ts'
import { given } from '../support/story.ts'

// Agents in runs of the runtime, with the tools for documents over a gateway on the same log.

async function world() {
  const log = new MemoryLog()
  const ports = portsOver(log)
  const gateway = new DocumentGateway(ports)
  onTestFinished(() => gateway.close())
  const clock = new Waits()
  const tools = documentTools({ gateway, clock, parse: contentFrom, list: async () => ({ documents: [], next: null }) })
  const id = await made(gateway, '<p>one</p><p>two</p>')
  const story = (says: Parameters<typeof given>[0]['says'], spec: object = { policy: { mode: 'batch' } }, more = {}) =>
    given({ says, tools, spec: { ...spec }, ports: { log, blobs: ports.blobs, ...more } })
  const person = async (text: string) => {
    const bob = new Person('77', (await gateway.snapshot(id)).bytes)
    await gateway.import(
      id,
      bob.change(() => bob.text(0).insert(0, text)),
      ANN,
    )
  }
  return { gateway, ports, id, story, person, clock }
}

const reads = (doc_id: string) => calls(call('read_document', { doc_id }))

/** The JSON in the last result. */
const last = (request: Parameters<Answer>[0]): JsonObject => {
  const { content } = request.messages.at(-1) as { content: string }
  return JSON.parse(content.startsWith('{') ? content : content.slice(content.indexOf('\n') + 1))
}

const replacing = (spanId: unknown, hash: unknown, text: string, more: object): ReturnType<typeof calls> =>
  calls(
    call('edit_document', {
      ops_xml: `<replace_spans><span span_id="${spanId}">${text}</span></replace_spans>`,
      preconditions: [{ span_id: spanId, if_match_context_hash: hash }],
      ...more,
    }),
  )

/** Replaces the first block as the result before shows it. */
const edits =
  (text: string): Answer =>
  (request) => {
    const { doc_id, doc_frontier, blocks } = last(request)
    const [block] = blocks as JsonObject[]
    return replacing(block!.span_id, block!.hash, text, { doc_id, doc_frontier })
  }

/** Answers a conflict, from what its message gives. */
const editsAgain =
  (text: string): Answer =>
  (request) => {
    const { doc_id, retry_of, doc_frontier, spans } = last(request)
    const [span] = spans as JsonObject[]
    return replacing(span!.span_id, span!.if_match_context_hash, text, { doc_id, retry_of, doc_frontier })
  }

describe('5.8: documents', () => {
  test('5.8.1: an agent’s edit is an envelope that its run and call stand on, and its checkpoint names the frontier', async () => {
    const { gateway, ports, id, story } = await world()
    const run = await story([reads(id), edits('uno'), completes()])
    expect(await run.drive()).toEqual({ end: 'done' })
    const events = await eventsOf(ports, documentStream(id))
    const received = events.find(({ type }) => type === 'envelope_received')
    const intent = (await run.of('tool_call_start')).find(({ body }) => body.toolName === 'edit_document')!
    expect(received).toMatchObject({
      ...{ runId: run.runId, toolCallId: run.call(2), causationId: `agent-${run.runId}@${intent.revision}` },
      correlationId: (await run.state()).correlation,
    })
    const { frontier } = await gateway.read(id)
    expect((await run.state()).documents).toEqual({ [id]: frontier })
    const [readStep, editStep] = await run.of('tool_call_end')
    expect(readStep!.body.documents![id]).not.toBe(frontier)
    expect(editStep!.body.documents).toEqual({ [id]: frontier })
  })

  test('5.8.4: a 409 gives the model the new text, and its new edit is the retry', async () => {
    const { gateway, ports, id, story, person, clock } = await world()
    const after: Answer = async (request, n) => {
      const said = await edits('uno')(request, n)
      await person('x')
      return said as ReturnType<typeof calls>
    }
    const run = await story([reads(id), after, editsAgain('unox'), completes()])
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(await run.ends()).toEqual([
      ...['read_document: ok', 'edit_document: CONFLICT', 'edit_document: ok', 'complete_task: ok'],
    ])
    expect(await textsOf(gateway, id)).toEqual(['unox', 'two'])
    const ids = (await eventsOf(ports, documentStream(id))).flatMap((event) =>
      event.type === 'envelope_received' ? [event.body.request?.client_request_id] : [],
    )
    expect(ids).toEqual([run.call(2), `${run.call(2)}-retry-1`])
    expect(clock.waits).toEqual([100])
  })

  test('a call that was killed after its edit is performed again, and the edit is applied once', async () => {
    const { gateway, ports, id, story } = await world()
    let reached = () => {}
    const performed = new Promise<void>((resolve) => {
      reached = resolve
    })
    let tools = 0
    const crashPoint = (name: string) => {
      if (name !== 'after_tool' || ++tools < 2) return
      reached()
      return new Promise<void>(() => {})
    }
    const run = await story([reads(id), edits('uno'), completes()], undefined, { crashPoint })
    void run.drive()
    await performed
    expect(await textsOf(gateway, id)).toEqual(['uno', 'two'])
    const other = run.elsewhere({ crashPoint: () => undefined })
    expect(await other.drive(run.runId, { signal: new AbortController().signal })).toEqual({ end: 'done' })
    const types = (await eventsOf(ports, documentStream(id))).map(({ type }) => type)
    expect(types.filter((type) => type === 'envelope_received')).toHaveLength(1)
    expect(await textsOf(gateway, id)).toEqual(['uno', 'two'])
    expect((await run.of('tool_call_end')).map(({ body }) => body.success)).toEqual([true, true, true])
  })

  test.each(['edit_document', 'create_document'])('%s waits for approval in interactive mode', async (name) => {
    const { id, gateway, story } = await world()
    const says =
      name === 'edit_document' ? [reads(id), edits('uno')] : [calls(call(name, { title: 'T', content: 'x' }))]
    const run = await story([...says, completes()], {})
    expect(await run.drive()).toMatchObject({ end: 'waiting' })
    expect((await run.of('approval_requested')).map(({ body }) => body.toolName)).toEqual([name])
    expect(await textsOf(gateway, id)).toEqual(['one', 'two'])
  })

  test('a policy takes the tools away like any other', async () => {
    const { id, story } = await world()
    const policy = { mode: 'batch', deniedTools: ['edit_document'], allowedTools: ['read_document', 'edit_document'] }
    const run = await story([reads(id), edits('uno'), completes()], { policy })
    await run.drive()
    expect(await run.ends()).toContain('edit_document: PERMISSION_DENIED')
    expect(run.offered(0)).toContain('read_document')
    for (const name of ['edit_document', 'create_document']) expect(run.offered(0)).not.toContain(name)
  })
})
