import type { z } from 'zod'
import { TRACED_TYPES, traceInAgent } from '../../../domain/agent/rules/trace.ts'
import { history } from '../../../domain/agent/runtime/history/history.ts'
import { agentOfCall } from '../../../domain/agent/runtime/history/results.ts'
import {
  type AgentTrace,
  nameOf,
  type ReadText,
  stepAt,
  type Traced,
  type TraceStep,
  type TraceTarget,
} from '../../../domain/calls/trace.ts'
import { external } from '../../../domain/external/aggregate.ts'
import { traceInExternal } from '../../../domain/external/trace.ts'
import type { EventPlace } from '../../../domain/log/body-parts.ts'
import type { Header } from '../../../domain/log/envelope.ts'
import { instantOf, instantText } from '../../../domain/log/instant.ts'
import { idOf, KINDS_OF_RUNS, kindOf } from '../../../domain/log/owner.ts'
import type { StreamEvent } from '../../../domain/stream/aggregate.ts'
import { history as streamHistory } from '../../../domain/stream/runtime/history.ts'
import { streamOfAgent } from '../../../domain/tree/runtime/stream-of-agent.ts'
import { notFound, type Problem } from '../problem.ts'
import type { Services } from '../services.ts'
import { type LineSource, lineSource } from './line-source.ts'
import type { Trace, TraceQuery } from './schemas.ts'

/** The most links from one agent to another. */
const MAX_LINKS = 64

/**
 * The chain of authority of a line, a call or an event, and the texts that the model had read before. Rejects with 404
 * for an unknown target, with `LOG_CORRUPT` for an altered event, and as the blame of a file does.
 */
export async function traceOf(s: Services, query: z.output<typeof TraceQuery>): Promise<Trace> {
  const line = query.file === undefined ? null : await lineSource(s, query)
  const target: TraceTarget = line?.target ?? query.event ?? { toolCallId: query.call! }
  const first = await linkOf(s, target)
  if (first === null) throw unknown(target)
  const steps = line === null ? [...first.steps] : withLine(line, first.steps)
  let { leadsTo } = first
  let missing: string | null = null
  for (let links = 0; leadsTo !== null; links++) {
    const next: AgentTrace | null = links < MAX_LINKS ? await linkOf(s, leadsTo) : null
    if (next === null) missing = `${named(leadsTo)} is not in this log`
    steps.push(...(next?.steps ?? []))
    leadsTo = next?.leadsTo ?? null
  }
  const last = steps.at(-1)?.actor
  const person = last?.kind === 'user' || last?.kind === 'approver' ? last : null
  if (person === null) missing ??= 'no event in this log names a person for it'
  return {
    steps: steps.map((step) => ({ ...step, at: instantText(step.at) })),
    ...{ person, missing, others: line?.others ?? [] },
    texts: shownTexts(first.texts, query),
  }
}

const named = (target: TraceTarget): string =>
  'toolCallId' in target ? `the call ${target.toolCallId}` : `the event ${target.stream}@${target.revision}`

function unknown(target: TraceTarget): Problem {
  if ('toolCallId' in target)
    return notFound('tool call', target.toolCallId, 'an id looks like <agent>.t<turn>.c<index>; events name the calls')
  const { stream, revision } = target
  return notFound('event', `${stream}@${revision}`, `GET /v1/streams/${stream}/events lists them`)
}

function shownTexts(texts: readonly ReadText[], { limit, untrusted }: z.output<typeof TraceQuery>): Trace['texts'] {
  const marked = texts.filter((one) => one.untrusted)
  const wanted = untrusted === undefined ? texts : marked
  const newest = wanted.slice(Math.max(0, wanted.length - limit)).toReversed()
  return {
    ...{ total: texts.length, untrusted: marked.length, more: wanted.length - newest.length },
    newest: newest.map((text) => ({ ...text, at: instantText(text.at) })),
  }
}

/** The line as the first step, at the event that wrote it. */
function withLine({ text, quote }: LineSource, steps: readonly TraceStep[]): TraceStep[] {
  const { decided: _, quote: __, ...written } = steps[0]!
  return [{ ...written, kind: 'line', text, quote }, ...steps]
}

/** One link of a chain: within an agent, or an event of another stream. Null: the log lacks the target. */
async function linkOf(s: Services, target: TraceTarget): Promise<AgentTrace | null> {
  if (!('toolCallId' in target)) return eventLink(s, target)
  const agentId = agentOfCall(target.toolCallId)
  const stream = agentId === null ? null : await streamOfAgent(s.log, agentId)
  return stream === null ? null : agentLink(s, stream, target)
}

async function eventLink(s: Services, target: EventPlace): Promise<AgentTrace | null> {
  const header = await headerAt(s, target)
  if (header === null) return null
  if (KINDS_OF_RUNS.includes(kindOf(target.stream))) return agentLink(s, target.stream, target, header.type)
  const { erased, ...at } = header
  const event = { ...at, at: instantOf(header.timestamp), erased }
  const step = stepAt('write', event, `${header.type} by ${nameOf(header.actor)}`)
  return { steps: [step], leadsTo: causeOf(header), texts: [] }
}

/** The call that an event of another stream follows from, or its cause. Null: a person or the runtime caused it. */
function causeOf({ toolCallId, causationId }: Header): TraceTarget | null {
  if (toolCallId !== undefined && agentOfCall(toolCallId) !== null) return { toolCallId }
  const [, stream, revision] = /^(.+)@(\d+)$/.exec(causationId ?? '') ?? []
  return stream === undefined ? null : { stream, revision: Number(revision) }
}

async function headerAt({ log }: Pick<Services, 'log'>, { stream, revision }: EventPlace) {
  for await (const [event] of log.read(stream, { from: revision, limit: 1, bodies: false }))
    if (event?.header.revision === revision) return { ...event.header, erased: event.erased === true }
  return null
}

/** `type`: of the target event. */
async function agentLink(s: Services, stream: string, target: TraceTarget, type?: string): Promise<AgentTrace | null> {
  if (kindOf(stream) === 'external') return traceInExternal(await traced(streamHistory(s, external, stream)), target)
  const types = type === undefined ? TRACED_TYPES : [...TRACED_TYPES, type]
  return traceInAgent(await traced(history(s, idOf(stream), { types })), target)
}

async function traced<Event extends StreamEvent>(
  pages: ReturnType<typeof streamHistory<Event>>,
): Promise<readonly Traced<Event>[]> {
  const events: Traced<Event>[] = []
  for await (const page of pages)
    for (const { event, recorded } of page)
      events.push({ ...event, stream: recorded.header.stream, erased: recorded.erased === true })
  return events
}
