import { take } from '../../http/answers.ts'
import { api } from '../client/api.ts'
import { Ago } from '../parts/ago.tsx'
import { useLoaded } from '../parts/loaded.tsx'
import { useRound } from '../parts/round.ts'
import { Foreign } from '../parts/text.tsx'

const PAUSE = 250

/** Loads again when someone sets or lifts a hold, or changes the retention. */
export const useKeepingRound = () => useRound(PAUSE, ({ stream }) => stream === 'access-keeping')

/** The holds on streams, as lines of text. `streams`: their names, each with words such as "This run". Needs `access.read`. */
export function Held({ streams }: { streams: ReadonlyMap<string, string> }) {
  const [round] = useKeepingRound()
  const found = useLoaded('holds', () => take(api.v1.holds.$get({ query: {} })), round)
  if (found === null) return null
  if ('fault' in found) return <p class="fault">The holds are not known: {found.fault}</p>
  const holds = found.value.holds.filter(({ of }) => streams.has(of))
  return holds.length === 0 ? null : (
    <ul class="reasons" aria-label="Holds">
      {holds.map(({ hold, of, by, at, reason }) => (
        <li key={hold}>
          {streams.get(of)} is held by <Foreign text={by} />, <Ago at={at} /> ago: <Foreign text={reason} />{' '}
          <a href="/retention?tab=holds">Holds</a>
        </li>
      ))}
    </ul>
  )
}
