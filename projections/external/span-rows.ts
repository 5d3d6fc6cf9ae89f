import { inputText, outputText } from '../../domain/external/reported/conventions.ts'
import type { ReportedSpan } from '../../domain/external/reported/span.ts'
import { tokensOf } from '../../domain/external/reported/usage.ts'
import { toolCallId } from '../../domain/log/ids.ts'
import { type AgentTableRow, put, remove, set } from '../agent/changes.ts'
import type { Change } from '../engine/changes/change.ts'
import { cut } from '../engine/text.ts'
import type { ProjectedExternal } from './event.ts'

type Event = Extract<ProjectedExternal, { type: 'spans_reported' }>
type Agent = Partial<AgentTableRow<'agents'>>

/** Reported spans are model calls and tool calls of turn 0. Attempt 1 is the usage of a run with a process. */
const TURN = 0
const FIRST_ATTEMPT = 2

/** A time in µs as ISO 8601 in ms. */
const isoOf = (us: number): string => new Date(Math.floor(us / 1_000)).toISOString()

/**
 * The row changes of reported spans: a model call and a tool call for each such span, and the times of the run. All times
 * are those of the spans.
 */
export function spanChanges(e: Event, agent: (columns?: Agent) => Change): Change[] {
  if (e.body === null) return [agent()]
  const { spans, fromUs, toUs, root: rootNumber, wrappers = [] } = e.body
  const from = { created_at: isoOf(fromUs) }
  const isRoot = e.agentId === e.runId
  const runTimes = { ...from, ...(toUs !== undefined && { ended_at: isoOf(toUs) }) }
  const changes = [agent({ ...from, ...(toUs !== undefined && { completed_at: isoOf(toUs) }) })]
  if (isRoot) changes.push(set('runs', { id: e.runId }, runTimes))
  for (const span of spans) {
    if (span.kind === 'model' && !wrappers.includes(span.n)) changes.push(modelCall(e, span))
    if (span.kind === 'tool') changes.push(toolCall(e, span))
  }
  for (const n of wrappers) changes.push(remove('model_calls', modelKey(e, n)))
  const root = spans.find(({ n }) => n === rootNumber)
  return root === undefined ? changes : [...changes, ...named(e, root)]
}

const modelKey = ({ agentId }: Event, n: number) => ({ agent_id: agentId, turn: TURN, attempt: n + FIRST_ATTEMPT })

const failureOf = ({ error }: ReportedSpan) => ({
  code: error === undefined ? null : error.type,
  message: error?.message === undefined ? null : cut(error.message, 1000),
})

const durationOf = ({ startUs, endUs }: ReportedSpan): number | null =>
  endUs === undefined ? null : Math.round((endUs - startUs) / 1_000)

const NO_USAGE = { input: null, output: null, cacheRead: null, cacheWrite: null, cost: null } as const

function modelCall(e: Event, span: ReportedSpan): Change {
  const { error, startUs, endUs, model = null, attributes = {} } = span
  const { input, output, ...cached } = tokensOf(span.usage ?? NO_USAGE)
  const text = outputText(attributes)
  const columns = {
    run_id: e.runId,
    model,
    status: endUs === undefined ? 'running' : error === undefined ? 'answered' : 'failed',
    code: failureOf(span).code,
    ...{ input, output },
    cache_read: input === null ? null : cached.cacheRead,
    cache_write: input === null ? null : cached.cacheWrite,
    nano_dollars: span.usage?.cost?.nanoDollars ?? null,
    duration_ms: durationOf(span),
    preview: text === null ? null : cut(text, 200),
    started_at: isoOf(startUs),
    ended_at: endUs === undefined ? null : isoOf(endUs),
    ended_revision: endUs === undefined ? null : e.revision,
    erased: e.erased ? 1 : 0,
  }
  return put('model_calls', modelKey(e, span.n), columns, { started_revision: e.revision })
}

function toolCall(e: Event, span: ReportedSpan): Change {
  const { error, startUs, endUs, tool = null } = span
  const ended = { ended_at: endUs === undefined ? null : isoOf(endUs) }
  const columns = {
    ...{ run_id: e.runId, turn: TURN, tool_name: tool, ran: 1, attempt: 1 },
    status: endUs === undefined ? 'running' : error === undefined ? 'succeeded' : 'failed',
    ...failureOf(span),
    duration_ms: durationOf(span),
    ...{ requested_at: isoOf(startUs), started_at: isoOf(startUs), ...ended },
    ended_revision: endUs === undefined ? null : e.revision,
    erased: e.erased ? 1 : 0,
  }
  const born = { requested_revision: e.revision, started_revision: e.revision }
  return put('tool_calls', { agent_id: e.agentId, id: toolCallId(e.agentId, TURN, span.n) }, columns, born)
}

/** Names the run after its root span: the input of the span, or its name. */
function named(e: Event, { name, service = '', attributes = {} }: ReportedSpan): Change[] {
  const preview = e.erased ? {} : { preview: cut(inputText(attributes) ?? name, 500) }
  const changes = [
    set('agents', { id: e.agentId }, { role: service }),
    set('inputs', { agent_id: e.agentId, revision: 0 }, preview),
  ]
  return e.agentId === e.runId ? [...changes, set('runs', { id: e.runId }, { role: service })] : changes
}
