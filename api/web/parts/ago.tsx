import { signal } from '@preact/signals'
import { ago, instant } from './format.ts'

const now = signal(Date.now())
// Where nothing happens, time goes on all the same.
setInterval(() => {
  now.value = Date.now()
}, 10_000)

/** How long ago something was, which grows while it is looked at; the instant is its title. */
export function Ago({ at }: { at: string }) {
  return (
    <time dateTime={at} title={instant(at)}>
      {ago(at, Math.max(now.value, Date.now()))}
    </time>
  )
}
