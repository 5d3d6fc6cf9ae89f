import { useEffect, useState } from 'preact/hooks'
import { take } from '../../http/answers.ts'
import { api } from '../client/api.ts'
import { listen } from '../client/feed.ts'
import { query, setQuery } from '../page/router.ts'
import { Notice } from '../page/shell.tsx'
import { useTitle } from '../page/title.ts'
import { Loaded, useLoaded } from '../parts/loaded.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { Throttle } from '../parts/throttle.ts'
import { BudgetsTab } from './budgets-tab.tsx'
import { CallsTab } from './calls-tab.tsx'
import { CostTab } from './cost-tab.tsx'
import { RoutingTab } from './routing-tab.tsx'
import { RunsTab } from './runs-tab.tsx'

const SPANS = [
  ['1d', 'the last day'],
  ['1w', 'the last week'],
  ['30d', 'the last 30 days'],
  ['', 'all time'],
] as const

const TABS = [
  ['cost', 'Cost and tokens'],
  ['calls', 'Calls and times'],
  ['routing', 'Routing and health'],
  ['runs', 'Runs and recoveries'],
  ['budgets', 'Budgets'],
] as const

/** The shortest time between two updates while runs go on, in ms. */
const PAUSE = 5_000

/** Cost, results and durations of runs. */
export function NumbersScreen() {
  useTitle('Numbers')
  const tab = TABS.find(([name]) => name === query.value.get('tab'))?.[0] ?? 'cost'
  const [since, run] = [query.value.get('since') ?? '30d', query.value.get('run') ?? '']
  const which = { ...(since === 'all' ? {} : { since }), ...(run === '' ? {} : { run }) }
  const [round, setRound] = useState(0)
  useEffect(() => {
    const again = () => setRound((n) => n + 1)
    const throttle = new Throttle(again, PAUSE)
    const leave = listen({ event: () => throttle.request(), connected: again })
    return () => {
      leave()
      throttle.stop()
    }
  }, [])
  const found = useLoaded(`${JSON.stringify(which)}`, () => take(api.v1.numbers.$get({ query: which })), round)
  const days = useLoaded(
    `${JSON.stringify(which)}`,
    () => take(api.v1.cost.$get({ query: { ...which, by: 'day' } })),
    round,
  )
  return (
    <div class="screen">
      <div class="bar">
        <h1>Numbers</h1>
        <search class="filters">
          <label>
            Of
            <select
              value={since === 'all' ? '' : since}
              onChange={(event) => setQuery({ since: (event.target as HTMLSelectElement).value || 'all' })}
            >
              {SPANS.map(([value, text]) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          </label>
          <label>
            Run
            <input
              class="mono"
              value={run}
              placeholder="all runs"
              onChange={(event) => setQuery({ run: (event.target as HTMLInputElement).value.trim() })}
            />
          </label>
        </search>
      </div>
      <Tabs label="Numbers" tabs={TABS} at={tab} onChange={(name) => setQuery({ tab: name })}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
        <div class="scroll numbers" tabIndex={0}>
          <Loaded of={found}>
            {(numbers) => (
              <Loaded of={days}>
                {(cost) => {
                  if (cost.total.modelCalls === 0 && numbers.tools.length === 0 && numbers.runDays.length === 0)
                    return <Empty />
                  if (tab === 'calls') return <CallsTab numbers={numbers} cost={cost} />
                  if (tab === 'routing') return <RoutingTab numbers={numbers} />
                  if (tab === 'runs') return <RunsTab numbers={numbers} cost={cost} which={which} />
                  if (tab === 'budgets') return <BudgetsTab numbers={numbers} />
                  return <CostTab numbers={numbers} cost={cost} which={which} round={round} />
                }}
              </Loaded>
            )}
          </Loaded>
        </div>
      </Tabs>
    </div>
  )
}

const Empty = () => (
  <Notice title="There is nothing to count">
    <p>The cost, the tokens and the times of model calls and tool calls come here. None was made in this time.</p>
    <p class="row">
      <button type="button" class="main" onClick={() => setQuery({ since: 'all', run: null })}>
        Show all runs of all time
      </button>
      <a class="button" href="/start">
        Start a run
      </a>
    </p>
    <p>On the command line:</p>
    <pre>keepup run --role coder "Make the failing test pass"</pre>
  </Notice>
)
