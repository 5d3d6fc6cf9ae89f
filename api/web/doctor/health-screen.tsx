import { useState } from 'preact/hooks'
import { take } from '../../http/answers.ts'
import { api } from '../client/api.ts'
import { useTitle } from '../page/title.ts'
import { DataTable } from '../parts/data-table.tsx'
import { Loaded, useLoaded } from '../parts/loaded.tsx'
import { shown } from '../parts/shown.ts'

const STATES = ['broken', 'warning', 'ok'] as const
const TONES = { broken: 'bad', warning: 'warn', ok: '' } as const

/** The health of the process and of everything that it needs, the worst first, each fault with its remedy. */
export function HealthScreen() {
  useTitle('Health')
  // The checks start programs and read files, so only a person repeats them.
  const [round, setRound] = useState(0)
  const [isChecking, setChecking] = useState(true)
  const check = async () => {
    setChecking(true)
    try {
      return await take(api.v1.doctor.$get({ query: {} }))
    } finally {
      setChecking(false)
    }
  }
  const found = useLoaded('doctor', check, round)
  return (
    <div class="screen">
      <div class="bar">
        <h1>Health</h1>
        <button type="button" disabled={isChecking} onClick={() => setRound((n) => n + 1)}>
          {isChecking ? 'Checking …' : 'Check again'}
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
      <div class="scroll" tabIndex={0}>
        <Loaded of={found}>
          {({ findings }) => (
            <>
              <p role="status">{summary(findings.map(({ state }) => state))}</p>
              <ul>
                {findings
                  .filter(({ state }) => state !== 'ok')
                  .map(({ check, state, found, todo }) => (
                    <li key={`${check} ${found}`} class={state === 'broken' ? 'bad' : ''}>
                      <strong>{shown(check)}</strong> <bdi>{shown(found)}</bdi>
                      {todo !== null && (
                        <>
                          : <bdi>{shown(todo)}</bdi>
                        </>
                      )}
                    </li>
                  ))}
              </ul>
              <DataTable
                label="Health"
                columns={[
                  { name: 'check' },
                  {
                    name: 'state',
                    show: (state) => <span class={TONES[state as keyof typeof TONES]}>{String(state)}</span>,
                  },
                  { name: 'found', show: text },
                  { name: 'todo', title: 'to do', show: text },
                ]}
                rows={STATES.flatMap((state) =>
                  findings
                    .filter((one) => one.state === state)
                    .map(({ check, found, todo }) => [check, state, found, todo]),
                )}
              />
            </>
          )}
        </Loaded>
        <p class="quiet">
          On the command line: <code>keepup doctor</code>, which also works when nothing starts.
        </p>
      </div>
    </div>
  )
}

const text = (cell: unknown) => cell !== null && <bdi>{shown(String(cell))}</bdi>

function summary(states: readonly (typeof STATES)[number][]): string {
  const count = (of: string) => states.filter((state) => state === of).length
  const [broken, warnings] = [count('broken'), count('warning')]
  if (broken + warnings === 0) return `All ${states.length} checks are ok.`
  return `${broken} broken, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}, ${count('ok')} ok.`
}
