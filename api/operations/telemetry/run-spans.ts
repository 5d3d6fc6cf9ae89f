import { AgentSpans, spanTypes } from '../../../domain/agent/rules/telemetry.ts'
import { history } from '../../../domain/agent/runtime/history/history.ts'
import { type RunSpans, runSpans, type Span, type SpanOptions } from '../../../domain/calls/telemetry.ts'
import { external } from '../../../domain/external/aggregate.ts'
import { ExternalSpans } from '../../../domain/external/telemetry.ts'
import type { Header } from '../../../domain/log/envelope.ts'
import { LogError, type LogErrorCode } from '../../../domain/log/errors.ts'
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

export interface RunSpansOptions extends SpanOptions {
  /** Called for a stream whose later events cannot be read: they are damaged, erased or of a newer version. */
  onIncomplete?(stream: string, error: LogError): void
}

/** Codes of bodies and streams that no later attempt can read. */
const DAMAGE: ReadonlySet<string> = new Set<LogErrorCode>([
  'BLOB_MISSING',
  'LOG_CORRUPT',
  'UNKNOWN_EVENT',
  'BODY_ERASED',
])

/** Whether this is an error of a body or a stream that no later attempt can read. */
export const isDamage = (error: unknown): error is LogError => error instanceof LogError && DAMAGE.has(error.code)

/**
 * The spans of a run and its agents, in batches: those of ended operations, and one for each agent. The log alone decides
 * them, so a second export of an ended run gives the same spans. A stream that cannot be read to its end gives the spans
 * before that, and the last span names it with the code of the error. Rejects with 404 for an unknown run, and if the first event of the run is damaged.
 */
export async function* spansOfRun(
  s: Needed,
  runId: string,
  { onIncomplete, ...options }: RunSpansOptions,
): AsyncGenerator<readonly Span[]> {
  const root = await streamOfAgent(s.log, runId)
  const first = root === null ? null : await firstHeader(s, root)
  if (root === null || first?.runId !== runId) throw notFound('run', runId, 'GET /v1/runs lists the runs')
  const run = runSpans(runId, first, options)
  const workflow = spanIdOf(`run ${runId}`)
  const due: Member[] = [{ stream: root, parentSpanId: null }]
  const whole = { start: Number.POSITIVE_INFINITY, end: 0, agents: 0 }
  const incomplete: string[] = []
  let rootSpan: Span | null = null
  for (let member = due.shift(); member !== undefined; member = due.shift()) {
    const { agent, damage } = yield* spansOfAgent(s, run, member, due)
    if (damage !== null) {
      if (agent === null && member.stream === root) throw damage
      incomplete.push(`${member.stream}: ${damage.code}`)
      onIncomplete?.(member.stream, damage)
    }
    if (agent === null) continue
    whole.agents += 1
    whole.start = Math.min(whole.start, agent.start)
    whole.end = Math.max(whole.end, agent.end)
    if (member.stream === root) rootSpan = agent
    else yield [agent]
  }
  if (rootSpan === null) return
  const isTree = whole.agents > 1
  if (isTree) yield [{ ...rootSpan, parentSpanId: workflow, links: rootSpan.links.filter((one) => one !== run.link) }]
  const last = isTree ? workflowSpan(run, rootSpan, workflow, whole) : { ...rootSpan, parentSpanId: run.parentSpanId }
  const { attributes } = last
  yield [
    incomplete.length === 0
      ? last
      : { ...last, attributes: { ...attributes, 'keepup.incomplete_streams': incomplete } },
  ]
}

interface AgentRead {
  /** The span of the agent; null: it has no readable event. */
  readonly agent: Span | null
  /** The error that ended the reading; null: everything was read. */
  readonly damage: LogError | null
}

/** Yields the spans of an agent's calls, and adds its children to `due`. */
async function* spansOfAgent(
  s: Needed,
  run: RunSpans,
  { stream, parentSpanId }: Member,
  due: Member[],
): AsyncGenerator<readonly Span[], AgentRead> {
  if (kindOf(stream) === 'external') {
    const spans = new ExternalSpans(run)
    const damage = yield* added(streamHistory(s, external, stream), (event) => spans.add(event))
    const reported = spans.reported()
    if (reported.length > 0) yield reported
    return { agent: spans.end(parentSpanId), damage }
  }
  const spans = new AgentSpans(run, stream)
  const read = history(s, idOf(stream), { types: spanTypes(run.content) })
  const damage = yield* added(read, (event) => spans.add(event))
  for (const child of spans.children) {
    const name = child.isExternal ? externalStream(child.agentId) : agentStream(child.agentId)
    due.push({ stream: name, parentSpanId: spans.parentOf(child) })
  }
  return { agent: spans.end(parentSpanId), damage }
}

/** Returns the error of a damaged page, after the pages before it. */
async function* added<Event extends StreamEvent>(
  pages: AsyncIterable<readonly Remembered<Event>[]>,
  add: (event: Event & { id: string; stream: string; erased: boolean }) => readonly Span[],
): AsyncGenerator<readonly Span[], LogError | null> {
  try {
    for await (const page of pages) {
      const spans: Span[] = []
      for (const { event, recorded } of page) {
        const { id, header, erased = false } = recorded
        for (const span of add({ ...event, id, stream: header.stream, erased })) spans.push(span)
      }
      if (spans.length > 0) yield spans
    }
    return null
  } catch (error) {
    if (!isDamage(error)) throw error
    return error
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
