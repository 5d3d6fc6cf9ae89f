import { useEffect, useRef } from 'preact/hooks'
import { query, setQuery } from '../../page/router.ts'
import { Tabs } from '../../parts/tabs.tsx'
import { FilesTab } from '../files/files-tab.tsx'
import { ReportedFiles } from '../files/reported-files.tsx'
import { showDetail } from '../open-event.ts'
import type { DetailProps } from './detail-props.ts'
import { DiffTab } from './diff-tab.tsx'
import { EventTab } from './event-tab.tsx'
import { ProofTab } from './proof-tab.tsx'
import { RawTab } from './raw-tab.tsx'
import { RequestTab } from './request-tab.tsx'
import { StateTab } from './state-tab.tsx'
import { TraceTab } from './trace-tab.tsx'

const TABS = [
  ['event', 'Event'],
  ['state', 'State'],
  ['diff', 'Diff'],
  ['files', 'Files'],
  ['trace', 'Trace'],
  ['raw', 'Raw'],
  ['request', 'Request'],
  ['proof', 'Proof'],
] as const

/** Tabs without content for external agents. */
const GOVERNED: ReadonlySet<string> = new Set(['state', 'diff', 'request'])

interface DetailPaneProps extends DetailProps {
  readonly governed: boolean
  /** The head of the run's screen is shown. */
  readonly isHeadLoaded: boolean
}

/** The tabs with everything about the event at the position. */
export function DetailPane({ governed, isHeadLoaded, ...props }: DetailPaneProps) {
  const asked = query.value.get('tab')
  const tabs = TABS.filter(([name]) => governed || !GOVERNED.has(name))
  const tab = tabs.find(([name]) => name === asked)?.[0] ?? 'event'
  const isLoaded = props.agent.length.value > 0
  // A link to a tab scrolls to the stacked pane. Wait for the head of the run, because it moves the pane down.
  const isLinked = useRef(asked !== null)
  const isPlaced = isLoaded && isHeadLoaded
  useEffect(() => {
    if (isPlaced && isLinked.current) showDetail()
    if (isPlaced) isLinked.current = false
  }, [isPlaced])
  if (!isLoaded) return <section class="pane detail" aria-label="Detail" />
  return (
    <section class="pane detail" aria-label="Detail">
      <Tabs
        label="What to show"
        tabs={tabs}
        at={tab}
        onChange={(name) => setQuery({ tab: name === 'event' ? null : name })}
      >
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
        <div class="scroll" tabIndex={0}>
          {tab === 'event' && <EventTab {...props} />}
          {tab === 'state' && <StateTab {...props} />}
          {tab === 'diff' && <DiffTab {...props} />}
          {tab === 'files' && (governed ? <FilesTab {...props} /> : <ReportedFiles {...props} />)}
          {tab === 'trace' && <TraceTab {...props} />}
          {tab === 'raw' && <RawTab {...props} />}
          {tab === 'request' && <RequestTab {...props} />}
          {tab === 'proof' && <ProofTab {...props} />}
        </div>
      </Tabs>
    </section>
  )
}
