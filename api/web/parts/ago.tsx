import { signal } from '@preact/signals'
import { ago, instant, moment } from './format.ts'

const now = signal(Date.now())
// Update ages also when no events arrive.
setInterval(() => {
  now.value = Date.now()
}, 10_000)

/** The age of an instant, which updates every 10 s. The title is the instant. */
export function Ago({ at }: { at: string }) {
  return (
    <time dateTime={at} title={instant(at)}>
      {ago(at, Math.max(now.value, Date.now()))}
    </time>
  )
}

/** A date and time to the minute. The title is the exact instant. */
export const Moment = ({ at }: { at: string }) => (
  <time dateTime={at} title={instant(at)}>
    {moment(at)}
  </time>
)

/** The age of an instant in a table. */
export const WhenAgo = ({ at }: { at: string }) => (
  <span class="instant">
    <Ago at={at} /> ago
  </span>
)
