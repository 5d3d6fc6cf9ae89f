import { useEffect } from 'preact/hooks'
import { take } from '../../http/answers.ts'
import { useRights } from '../access/rights.ts'
import { busy, run } from '../actions/command.ts'
import { CommandOutcome } from '../actions/outcome.tsx'
import { api } from '../client/api.ts'
import { Notice } from '../page/shell.tsx'
import { useTitle } from '../page/title.ts'
import { WhenAgo } from '../parts/ago.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Loaded, useLoaded } from '../parts/loaded.tsx'
import { useRound } from '../parts/round.ts'
import { shown } from '../parts/shown.ts'

/** The shortest time between two updates, in ms. */
const PAUSE = 1_500
/** The time between two looks while deliveries are due, in ms. */
const LOOK = 5_000

const SETTINGS = `{
  "webhooks": [
    {
      "name": "chat",
      "url": "https://HOST/PATH",
      "secret": "CHAT_WEBHOOK"
    }
  ]
}`

/** The webhooks of the settings, and how their deliveries do. */
export function WebhooksScreen() {
  useTitle('Webhooks')
  const [round, again] = useRound(PAUSE)
  const canTest = useRights()?.has('system.operate') ?? false
  const found = useLoaded('webhooks', () => take(api.v1.webhooks.$get({})), round)
  // A delivery is no event, so the page looks again while some are due.
  const isDue = found !== null && 'value' in found && found.value.webhooks.some(({ behind }) => behind !== 0)
  useEffect(() => {
    if (!isDue) return
    const timer = setTimeout(again, LOOK)
    return () => clearTimeout(timer)
  }, [isDue, found])
  const test = async (name: string) => {
    await run(`${name}: the receiver took a test notice.`, async () => {
      const { fault } = await take(api.v1.webhooks[':name'].test.$post({ param: { name } }))
      if (fault !== null) throw new Error(`${name}: ${fault}`)
    })
    again()
  }
  return (
    <div class="screen">
      <div class="bar">
        <h1>Webhooks</h1>
      </div>
      <CommandOutcome />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
      <div class="scroll" tabIndex={0}>
        <Loaded of={found}>
          {({ webhooks }) =>
            webhooks.length === 0 ? (
              <None />
            ) : (
              <DataTable
                label="Webhooks"
                columns={[
                  { name: 'name' },
                  { name: 'target', title: 'to' },
                  { name: 'types', title: 'notices' },
                  {
                    name: 'behind',
                    title: 'events behind',
                    show: (behind) => (behind === null ? 'not begun' : behind === 1_000 ? '1,000 or more' : null),
                  },
                  {
                    name: 'delivered_at',
                    title: 'last delivery',
                    show: (at) => (at === null ? 'none yet' : <WhenAgo at={String(at)} />),
                  },
                  { name: 'fault', show: (text) => text !== null && <bdi class="bad">{shown(String(text))}</bdi> },
                  { name: 'fault_at', title: 'since', show: (at) => at !== null && <WhenAgo at={String(at)} /> },
                  ...(canTest
                    ? [
                        {
                          name: 'commands',
                          show: (_: unknown, [name]: readonly unknown[]) => (
                            <button
                              type="button"
                              aria-label={`Test ${name}`}
                              disabled={busy.value}
                              onClick={() => void test(String(name))}
                            >
                              Test
                            </button>
                          ),
                        },
                      ]
                    : []),
                ]}
                rows={webhooks.map(({ name, target, types, behind, deliveredAt, failure, stopped }) => [
                  ...[name, target, types?.join(', ') ?? 'all', behind, deliveredAt],
                  stopped === null ? (failure?.message ?? null) : `stopped: ${stopped.message}`,
                  (stopped ?? failure)?.at ?? null,
                  ...(canTest ? [''] : []),
                ])}
              />
            )
          }
        </Loaded>
        <p class="quiet">
          On the command line: <code>keepup webhooks</code>, <code>keepup webhooks test NAME</code>. A test that its
          receiver takes lets a stopped webhook go on.
        </p>
      </div>
    </div>
  )
}

const None = () => (
  <Notice title="There are no webhooks yet">
    <p>
      A webhook tells another program, such as a chat, when a person is needed: for approvals, questions, unknown
      outcomes, budgets and ends of runs. keepup sends each notice to its URL and signs it. The settings name webhooks:
    </p>
    <pre>{SETTINGS}</pre>
    <p>
      <code>secret</code> is the name of the secret that signs. Set it, then start keepup again:
    </p>
    <pre>keepup secrets set CHAT_WEBHOOK</pre>
  </Notice>
)
