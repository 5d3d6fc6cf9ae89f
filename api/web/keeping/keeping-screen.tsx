import { useRights } from '../access/rights.ts'
import { CommandOutcome } from '../actions/outcome.tsx'
import { query, setQuery } from '../page/router.ts'
import { useTitle } from '../page/title.ts'
import { Tabs } from '../parts/tabs.tsx'
import { Holds } from './holds.tsx'
import { Retention } from './retention.tsx'

const TABS = [
  ['retention', 'Retention'],
  ['holds', 'Holds'],
] as const

/** How long texts stay, and what is held. */
export function KeepingScreen() {
  useTitle('Retention and holds')
  const tab = TABS.find(([name]) => name === query.value.get('tab'))?.[0] ?? 'retention'
  const rights = useRights()
  const canChange = rights?.has('runs.erase') ?? false
  return (
    <div class="screen">
      <div class="bar">
        <h1>Retention and holds</h1>
      </div>
      <CommandOutcome />
      <Tabs
        label="Retention and holds"
        tabs={TABS}
        at={tab}
        onChange={(name) => setQuery({ tab: name === 'retention' ? null : name, all: null })}
      >
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
        <div class="scroll" tabIndex={0}>
          {tab === 'retention' && <Retention canChange={canChange} />}
          {tab === 'holds' && rights?.has('access.read') && <Holds canChange={canChange} />}
          {tab === 'holds' && rights?.has('access.read') === false && (
            <p>Your roles do not show holds: that needs the right access.read, which auditors and admins have.</p>
          )}
        </div>
      </Tabs>
    </div>
  )
}
