import type { Payload } from '../../../operations/events/schemas.ts'
import { JsonView } from '../../parts/code/json-view.tsx'
import { span as duration, number } from '../../parts/format.ts'
import { shown } from '../../parts/shown.ts'

type Span = Payload<'spans_reported'>['spans'][number]

/** Spans that a program reported over OTLP, one line each: whether it failed, its name, time and tokens. */
export function ReportedSpans({ spans }: { spans: readonly Span[] }) {
  return (
    <>
      {spans.map((one) => (
        <ReportedSpan key={one.n} span={one} />
      ))}
    </>
  )
}

const tokens = (count: number | null): string => (count === null ? '?' : number(count))

function ReportedSpan({ span }: { span: Span }) {
  const { name, kind, error, startUs, endUs, usage, service } = span
  const [sign, tone] = endUs === undefined ? ['…', 'quiet'] : error !== undefined ? ['✗', 'bad'] : ['✓', 'good']
  const figures = [
    service && shown(service),
    endUs === undefined ? 'open' : duration((endUs - startUs) / 1_000),
    usage && `${tokens(usage.input)} tokens in, ${tokens(usage.output)} out`,
    error && shown(error.message ?? error.type),
  ]
  const { attributes = {}, events = [], ...rest } = span
  return (
    <details class="reported">
      <summary>
        <span class={`sign ${tone}`}>{sign}</span>{' '}
        <span class={kind === 'tool' ? 'type tool' : 'type model'}>
          <bdi>{shown(name)}</bdi>
        </span>{' '}
        <span class="quiet">
          <bdi>{figures.filter(Boolean).join(' · ')}</bdi>
        </span>
      </summary>
      <JsonView name="span" value={rest} />
      {Object.keys(attributes).length > 0 && <JsonView name="attributes" value={attributes} open={false} />}
      {events.length > 0 && <JsonView name="events" value={events} open={false} />}
    </details>
  )
}
