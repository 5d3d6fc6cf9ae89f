import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import type { AskView } from '../../app/schemas/approvals.ts'
import { api, take, told } from '../client/api.ts'
import { listen } from '../client/feed.ts'
import { useKeys } from '../page/keys.ts'
import { Notice } from '../page/shell.tsx'
import { AskCard } from './ask-card.tsx'
import { Outcome } from './outcome.tsx'

const asks = signal<readonly AskView[] | null>(null)
const fault = signal('')
const keyOf = (ask: AskView): string => `${ask.for} ${ask.agentId} ${ask.toolCallId}`

async function look(): Promise<void> {
  try {
    const [{ approvals }, { doubts }, { questions }] = await Promise.all([
      take(api.v1.approvals.$get({ query: { limit: '200' } })),
      take(api.v1.doubts.$get({ query: {} })),
      take(api.v1.questions.$get({ query: {} })),
    ])
    const waiting = approvals.map(
      ({ runId, agentId, agentPath, toolCallId, toolName, arguments: given, reason }): AskView => ({
        for: 'approval',
        ...{ runId, agentId, agentPath, toolCallId, toolName, arguments: given, text: reason },
      }),
    )
    asks.value = [...waiting, ...doubts, ...questions]
    fault.value = ''
  } catch (error) {
    fault.value = told(error)
  }
}

/** Everything that waits for people. What was decided while it is looked at stays, and says by whom. */
export function InboxScreen() {
  const [place, setPlace] = useState(0)
  const [kept, setKept] = useState<readonly AskView[]>([])
  useEffect(() => {
    let timer = 0
    const soon = () => {
      clearTimeout(timer)
      timer = window.setTimeout(look, 200)
    }
    void look()
    const leave = listen({ event: soon, connected: soon })
    return () => {
      clearTimeout(timer)
      leave()
      asks.value = null
    }
  }, [])
  const open = asks.value
  useEffect(() => {
    if (open === null) return
    const known = new Set(open.map(keyOf))
    setKept((before) => [...before.filter((ask) => ask.for === 'approval' && !known.has(keyOf(ask))), ...open])
  }, [open])
  const at = Math.min(place, kept.length - 1)
  const move = (by: number) => {
    const next = Math.min(kept.length - 1, Math.max(0, at + by))
    setPlace(next)
    document.querySelectorAll('.inbox > li')[next]?.scrollIntoView({ block: 'nearest' })
  }
  useKeys({ j: () => move(1), k: () => move(-1) })
  return (
    <div class="screen">
      <div class="bar">
        <h1>Inbox</h1>
        <span class="quiet">j, k: the next, the one before · a: approve · r: reject with a reason</span>
      </div>
      <Outcome />
      {fault.value !== '' && (
        <p class="fault" role="alert">
          {fault.value}
        </p>
      )}
      {open !== null && kept.length === 0 ? (
        <Notice title="Nothing waits for a person">
          <p>Approvals, unknown outcomes and questions of agents come here by themselves.</p>
        </Notice>
      ) : (
        <ol class="inbox">
          {kept.map((ask, index) => (
            <li key={keyOf(ask)} aria-current={index === at || undefined}>
              <AskCard ask={ask} keys={index === at} />
            </li>
          ))}
        </ol>
      )}
    </div>
  )
}
