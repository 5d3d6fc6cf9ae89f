import type { DecodedSpans, OtlpSpan } from '../../../domain/external/reported/otlp-span.ts'
import { readSpan } from '../../../domain/external/reported/read-span.ts'
import type { UnnumberedSpan } from '../../../domain/external/reported/span.ts'
import type { Json } from '../../../domain/log/json.ts'
import { yielder } from '../../../domain/stream/runtime/yield-to-event-loop.ts'
import { mustWrite } from '../runs/record-command.ts'
import { actorOf, type RequestOptions } from '../runs/request-options.ts'
import type { Services } from '../services.ts'
import { OTLP_SCOPE } from '../telemetry/otlp-traces.ts'
import { externalAgents } from './agents.ts'

/** How many runs are written at a time. */
const WRITERS = 16

/** The most traces of a request. Each may start a run, which stays in the log. */
const MAX_TRACES = 1_000

/** The spans of a request that are not recorded, and why. `message`: empty if all are recorded. */
export interface SpansReported {
  readonly rejected: number
  readonly message: string
}

/**
 * Records spans as runs of external agents, one run per trace. Spans that are recorded already change nothing. Resolves
 * when all are durable. Rejects when the signal aborts, after the runs that are being written. After a rejection some
 * spans may be recorded; the sender repeats the request.
 */
export async function reportSpans(
  s: Services,
  decoded: DecodedSpans,
  options: Pick<RequestOptions, 'identity'>,
  signal: AbortSignal,
): Promise<SpansReported> {
  mustWrite(s)
  const agents = externalAgents(s)
  const by = actorOf('user', undefined, options)
  const faults = new Map<string, number>()
  const refuse = (why: string, count = 1) => void faults.set(why, (faults.get(why) ?? 0) + count)
  for (const fault of decoded.faults) refuse(fault)
  const { hideValue } = await agents.log()
  const now = s.clock.now()
  const traces = new Map<string, UnnumberedSpan[]>()
  const yieldToEventLoop = yielder()
  for (const given of decoded.spans) {
    await yieldToEventLoop()
    if (isOwn(given, s.log.logId)) {
      refuse('keepup exported it from this log, which has the run already')
      continue
    }
    if (!traces.has(given.traceId) && traces.size >= MAX_TRACES) {
      refuse(`a request may have at most ${MAX_TRACES} traces; send fewer at a time`)
      continue
    }
    const read = readSpan(await withoutSecrets(given, hideValue), now, (model) => agents.price(model))
    if ('fault' in read) {
      refuse(read.fault)
      continue
    }
    const own = traces.get(read.traceId)
    if (own === undefined) traces.set(read.traceId, [read.span])
    else own.push(read.span)
  }
  const due = [...traces]
  for (let at = 0; at < due.length; at += WRITERS) {
    signal.throwIfAborted()
    const written = await Promise.allSettled(
      due.slice(at, at + WRITERS).map(async ([traceId, own]) => {
        const refused = await agents.reports.report(traceId, own, by)
        if (refused > 0) refuse(`trace ${traceId} has too many spans; send a shorter trace`, refused)
      }),
    )
    for (const one of written) if (one.status === 'rejected') throw one.reason
  }
  const told = [...faults].slice(0, 5).map(([why, count]) => `${count} × ${why}`)
  return { rejected: [...faults.values()].reduce((sum, count) => sum + count, 0), message: told.join('; ') }
}

/** Whether keepup exported a span from this log. Its run would be recorded, and paid, a second time. */
const isOwn = ({ service, instance }: OtlpSpan, logId: string): boolean =>
  service === OTLP_SCOPE.name && instance === logId

/** The span with references in place of secrets. Hide before the texts are cut: a cut could split a secret. */
async function withoutSecrets(span: OtlpSpan, hideValue: (value: Json) => Promise<Json>): Promise<OtlpSpan> {
  const { name, service, scope, status, attributes } = span
  const events = span.events.map((event) => ({ name: event.name, attributes: event.attributes }))
  const texts = { name, service, scope, status, attributes, events }
  const hidden = (await hideValue(texts as unknown as Json)) as unknown as typeof texts
  const timed = hidden.events.map((event, at) => ({ ...event, atNano: span.events[at]!.atNano }))
  return { ...span, ...hidden, events: timed }
}
