import type { OtlpSpan } from '../../../domain/external/reported/otlp-span.ts'
import { readSpan } from '../../../domain/external/reported/read-span.ts'
import type { UnnumberedSpan } from '../../../domain/external/reported/span.ts'
import type { Json } from '../../../domain/log/json.ts'
import { mustWrite } from '../runs/record-command.ts'
import { actorOf, type RequestOptions } from '../runs/request-options.ts'
import type { Services } from '../services.ts'
import { externalAgents } from './agents.ts'

/** How many runs are written at a time. */
const WRITERS = 16

/** The spans of a request that are not recorded, and why. `message`: empty if all are recorded. */
export interface SpansReported {
  readonly rejected: number
  readonly message: string
}

/**
 * Records spans as runs of external agents, one run per trace. Spans that are recorded already change nothing. Resolves
 * when all are durable. After a rejection some may be recorded; the sender repeats the request.
 */
export async function reportSpans(
  s: Services,
  spans: readonly OtlpSpan[],
  options: Pick<RequestOptions, 'identity'>,
): Promise<SpansReported> {
  mustWrite(s)
  const agents = externalAgents(s)
  const by = actorOf('user', undefined, options)
  const faults = new Map<string, number>()
  const refuse = (why: string, count: number) => void faults.set(why, (faults.get(why) ?? 0) + count)
  const traces = new Map<string, UnnumberedSpan[]>()
  for (const given of spans) {
    const read = readSpan(given, (model) => agents.price(model))
    if ('fault' in read) refuse(read.fault, 1)
    else {
      const own = traces.get(read.traceId)
      if (own === undefined) traces.set(read.traceId, [read.span])
      else own.push(read.span)
    }
  }
  const { hideValue } = await agents.log()
  const due = [...traces]
  for (let at = 0; at < due.length; at += WRITERS)
    await Promise.all(
      due.slice(at, at + WRITERS).map(async ([traceId, own]) => {
        const hidden = (await hideValue(own as unknown as Json)) as unknown as UnnumberedSpan[]
        const refused = await agents.reports.report(traceId, hidden, by)
        if (refused > 0) refuse(`trace ${traceId} has too many spans; send a shorter trace`, refused)
      }),
    )
  const told = [...faults].slice(0, 5).map(([why, count]) => `${count} × ${why}`)
  return { rejected: [...faults.values()].reduce((sum, count) => sum + count, 0), message: told.join('; ') }
}
