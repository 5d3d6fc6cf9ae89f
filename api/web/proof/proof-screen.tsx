import { useEffect } from 'preact/hooks'
import { take } from '../../http/answers.ts'
import { CommandOutcome } from '../actions/outcome.tsx'
import { api } from '../client/api.ts'
import { query, setQuery } from '../page/router.ts'
import { useTitle } from '../page/title.ts'
import { Loaded, useLoaded } from '../parts/loaded.tsx'
import { useRound } from '../parts/round.ts'
import { Tabs } from '../parts/tabs.tsx'
import { Anchors } from './anchors.tsx'
import { Guide } from './guide.tsx'
import { SignedLog } from './signed-log.tsx'
import { Verification } from './verification.tsx'

const TABS = [
  ['heads', 'Heads and anchors'],
  ['verify', 'Verify'],
  ['guide', 'How proofs work'],
] as const

/** The signed heads of the log, its anchors, and the verification of everything. */
export function ProofScreen() {
  useTitle('Proof')
  const tab = TABS.find(([name]) => name === query.value.get('tab'))?.[0] ?? 'heads'
  return (
    <div class="screen">
      <div class="bar">
        <h1>Proof</h1>
        <a href="/pack">Check a pack</a>
      </div>
      <CommandOutcome />
      <Tabs label="Proof" tabs={TABS} at={tab} onChange={(name) => setQuery({ tab: name === 'heads' ? null : name })}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
        <div class="scroll" tabIndex={0}>
          {tab === 'verify' ? <Verification /> : tab === 'guide' ? <Guide /> : <Heads />}
        </div>
      </Tabs>
    </div>
  )
}

/** The shortest time between two updates, in ms. The log is signed a second after an event. */
const PAUSE = 1_500

function Heads() {
  const [round, again] = useRound(PAUSE)
  const found = useLoaded('status', () => take(api.v1.proof.status.$get({})), round)
  const waits = found !== null && 'value' in found && found.value.unsigned !== 0
  useEffect(() => {
    if (!waits) return
    const timer = setTimeout(again, PAUSE)
    return () => clearTimeout(timer)
  }, [waits, round])
  return (
    <Loaded of={found}>
      {(status) => (
        <>
          <SignedLog status={status} />
          <Anchors status={status} again={again} />
        </>
      )}
    </Loaded>
  )
}
