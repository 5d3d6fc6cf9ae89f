import type { Attributes, AttributeValue, Span, SpanEvent } from '../../../domain/calls/telemetry.ts'
import { VERSION } from '../../version.ts'

// Spans in the JSON form of OTLP 1.x (github.com/open-telemetry/opentelemetry-proto): ids in hex, numbers of 64 bits as
// text, enums as numbers. The text is written directly: objects for it would cost twice the CPU time.

const KINDS = { internal: 1, client: 3 } as const
const STATUS_ERROR = 2
/** The release of the conventions that has the names of the spans. */
const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.41.0'

const text = (of: string): string => JSON.stringify(of)

function value(of: AttributeValue): string {
  if (typeof of === 'string') return `{"stringValue":${text(of)}}`
  if (typeof of === 'boolean') return `{"boolValue":${of}}`
  if (typeof of === 'number') return `{"intValue":"${of}"}`
  if ('double' in of) return `{"doubleValue":${of.double}}`
  return `{"arrayValue":{"values":[${of.map(value).join(',')}]}}`
}

/** The names of attributes are those of this program, without characters to escape. */
function attributesText(attributes: Attributes): string {
  let out = ''
  for (const key in attributes) out += `${out === '' ? '' : ','}{"key":"${key}","value":${value(attributes[key]!)}}`
  return `"attributes":[${out}]`
}

const nanos = (ms: number): string => `"${ms}000000"`

const eventText = ({ name, at, attributes }: SpanEvent): string =>
  `{"name":"${name}","timeUnixNano":${nanos(at)},${attributesText(attributes)}}`

const linkText = ({ traceId, spanId }: Span['links'][number]): string =>
  `{"traceId":"${traceId}","spanId":"${spanId}","attributes":[]}`

function spanText({ traceId, spanId, parentSpanId, name, kind, start, end, attributes, ...span }: Span): string {
  const parent = parentSpanId === null ? '' : `"parentSpanId":"${parentSpanId}",`
  const times = `"startTimeUnixNano":${nanos(start)},"endTimeUnixNano":${nanos(end)}`
  const { events, links, error } = span
  const more = [
    ...(events.length > 0 ? [`,"events":[${events.map(eventText).join(',')}]`] : []),
    ...(links.length > 0 ? [`,"links":[${links.map(linkText).join(',')}]`] : []),
    ...(error === null ? [] : [`,"status":${JSON.stringify({ code: STATUS_ERROR, message: error.message })}`]),
  ].join('')
  const about = `"name":${text(name)},"kind":${KINDS[kind]},${times}`
  return `{"traceId":"${traceId}","spanId":"${spanId}",${parent}${about},${attributesText(attributes)}${more}}`
}

/** The program that sends. `logId`: tells deployments apart. */
export const resourceText = (logId: string): string =>
  `{${attributesText({ 'service.name': 'keepup', 'service.version': VERSION, 'service.instance.id': logId })}}`

export const OTLP_SCOPE = { name: 'keepup', version: VERSION }

/** The most spans and the most characters of a batch. Collectors limit the size of a request to some MB. */
const BATCH = { spans: 500, characters: 2_000_000 }

/** A part of a run's spans. `text`: the JSON of a member of `resourceSpans` in a request. */
export interface SpanBatch {
  readonly text: string
  readonly spanIds: readonly string[]
}

export async function* spanBatches(logId: string, pages: AsyncIterable<readonly Span[]>): AsyncGenerator<SpanBatch> {
  const scope = JSON.stringify({ scope: OTLP_SCOPE, schemaUrl: SCHEMA_URL }).slice(0, -1)
  const head = `{"resource":${resourceText(logId)},"scopeSpans":[${scope},"spans":[`
  let texts: string[] = []
  let spanIds: string[] = []
  let characters = 0
  const batch = (): SpanBatch => ({ text: `${head}${texts.join(',')}]}]}`, spanIds })
  for await (const spans of pages)
    for (const span of spans) {
      const one = spanText(span)
      if (texts.length === BATCH.spans || (texts.length > 0 && characters + one.length > BATCH.characters)) {
        yield batch()
        texts = []
        spanIds = []
        characters = 0
      }
      texts.push(one)
      spanIds.push(span.spanId)
      characters += one.length
    }
  if (texts.length > 0) yield batch()
}
