import { query, setQuery } from '../page/router.ts'
import { useTitle } from '../page/title.ts'
import { Tabs } from '../parts/tabs.tsx'
import { AskTab } from './ask/ask-tab.tsx'
import { LogTab } from './log/log-tab.tsx'
import { AuditProofTab } from './proof/proof-tab.tsx'
import { TablesTab } from './tables/tables-tab.tsx'

const TABS = [
  ['ask', 'Questions'],
  ['proof', 'Proof'],
  ['tables', 'Tables'],
  ['log', 'Log'],
] as const

/** The screens for auditors: SQL questions, the proof, the state of the tables, and the log. */
export function AuditScreen() {
  useTitle('Audit')
  const tab = TABS.find(([name]) => name === query.value.get('tab'))?.[0] ?? 'ask'
  return (
    <div class="screen audit">
      <div class="bar">
        <h1>Audit</h1>
      </div>
      <Tabs label="Audit" tabs={TABS} at={tab} onChange={(name) => setQuery({ tab: name === 'ask' ? null : name })}>
        {tab === 'proof' ? (
          <AuditProofTab />
        ) : tab === 'tables' ? (
          <TablesTab />
        ) : tab === 'log' ? (
          <LogTab />
        ) : (
          <AskTab />
        )}
      </Tabs>
    </div>
  )
}
