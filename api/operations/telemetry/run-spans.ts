import { AgentSpans, spanTypes } from '../../../domain/agent/rules/telemetry.ts'
import { history } from '../../../domain/agent/runtime/history/history.ts'
import { type RunSpans, runSpans, type Span, type SpanOptions } from '../../../domain/calls/telemetry.ts'
import { external } from '../../../domain/external/aggregate.ts'
import { ExternalSpans } from '../../../domain/external/telemetry.ts'
import type { Header } from '../../../domain/log/envelope.ts'
import { agentStream, externalStream } from '../../../domain/log/ids.ts'
import { idOf, kindOf } from '../../../domain/log/owner.ts'
import { spanIdOf } from '../../../domain/log/trace-ids.ts'
import type { StreamEvent } from '../../../domain/stream/aggregate.ts'
import type { Remembered } from '../../../domain/stream/runtime/history.ts'
import { history as streamHistory } from '../../../domain/stream/runtime/history.ts'
import { streamOfAgent } from '../../../domain/tree/runtime/stream-of-agent.ts'
import { notFound } from '../problem.ts'
import type { Services } from '../services.ts'

type Needed = Pick<Services, 'log' | 'blobs'>

/** An agent whose spans are due. */
interface Member {
  readonly stream: string
  /** Null: the root of the run. */
  readonly parentSpanId: string | null
}

/**
 * The spans of a run and its agents, in batches: those of ended operations, and one for each agent. The log alone decides
 * them, so a second export of an ended run gives the same spans. Rejects with 404 for an unknown run.
 */
export async function* spansOfRun(s: Needed, runId: string, options: SpanOptions): AsyncGenerator<readonly Span[]> {
  const root = await streamOfAgent(s.log, runId)
  const first = root === null ? null : await firstHeader(s, root)
  if (root === null || first?.runId !== runId) throw notFound('run', runId, 'GET /v1/runs lists the runs')
  const run = runSpans(runId, first, options)
  const workflow = spanIdOf(`run ${runId}`)
  const due: Member[] = [{ stream: root, parentSpanId: null }]
  const whole = { start: Number.POSITIVE_INFINITY, end: 0, agents: 0 }
  let rootSpan: Span | null = null
  for (let member = due.shift(); member !== undefined; member = due.shift()) {
    const agent = yield* spansOfAgent(s, run, member, due)
    if (agent === null) continue
    whole.agents += 1
    whole.start = Math.min(whole.start, agent.start)
    whole.end = Math.max(whole.end, agent.end)
    if (member.stream === root) rootSpan = agent
    else yield [agent]
  }
  if (rootSpan === null) return
  if (whole.agents === 1) {
    yield [{ ...rootSpan, parentSpanId: run.parentSpanId }]
    return
  }
  yield [{ ...rootSpan, parentSpanId: workflow, links: rootSpan.links.filter((one) => one !== run.link) }]
  yield [workflowSpan(run, rootSpan, workflow, whole)]
}

/** Yields the spans of an agent's calls, adds its children to `due`, and returns the span of the agent. */
async function* spansOfAgent(
  s: Needed,
  run: RunSpans,
  { stream, parentSpanId }: Member,
  due: Member[],
): AsyncGenerator<readonly Span[], Span | null> {
  if (kindOf(stream) === 'external') {
    const spans = new ExternalSpans(run)
    yield* added(streamHistory(s, external, stream), (event) => spans.add(event))
    return spans.end(parentSpanId)
  }
  const spans = new AgentSpans(run, stream)
  yield* added(history(s, idOf(stream), { types: spanTypes(run.content) }), (event) => spans.add(event))
  for (const child of spans.children) {
    const name = child.isExternal ? externalStream(child.agentId) : agentStream(child.agentId)
    due.push({ stream: name, parentSpanId: spans.parentOf(child) })
  }
  return spans.end(parentSpanId)
}

async function* added<Event extends StreamEvent>(
  pages: AsyncIterable<readonly Remembered<Event>[]>,
  add: (event: Event & { id: string; stream: string; erased: boolean }) => readonly Span[],
): AsyncGenerator<readonly Span[]> {
  for await (const page of pages) {
    const spans: Span[] = []
    for (const { event, recorded } of page) {
      const { id, header, erased = false } = recorded
      for (const span of add({ ...event, id, stream: header.stream, erased })) spans.push(span)
    }
    if (spans.length > 0) yield spans
  }
}

async function firstHeader({ log }: Needed, stream: string): Promise<Header | null> {
  for await (const [event] of log.read(stream, { limit: 1, bodies: false }))
    if (event !== undefined) return event.header
  return null
}

/** The span above all agents of a run that has several. */
function workflowSpan(
  run: RunSpans,
  root: Span,
  spanId: string,
  { start, end }: { readonly start: number; readonly end: number },
): Span {
  const { 'gen_ai.agent.name': name = 'keepup', 'error.type': failed } = root.attributes
  return {
    ...{ traceId: run.traceId, spanId, parentSpanId: run.parentSpanId },
    name: `invoke_workflow ${name}`,
    kind: 'internal',
    ...{ start, end },
    attributes: {
      'gen_ai.operation.name': 'invoke_workflow',
      'gen_ai.workflow.name': name,
      'gen_ai.conversation.id': run.runId,
      'openinference.span.kind': 'CHAIN',
      ...(failed !== undefined && { 'error.type': failed }),
      'session.id': run.runId,
      ...(run.user !== null && { 'user.id': run.user }),
      ...('keepup.open' in root.attributes && { 'keepup.open': true }),
    },
    ...{ events: [], links: run.link === null ? [] : [run.link], error: root.error },
  }
}
