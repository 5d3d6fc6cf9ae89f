import { useEffect, useState } from 'preact/hooks'
import type { AskView } from '../../operations/approvals/schemas.ts'
import { useKeys } from '../page/keyboard-shortcuts.ts'
import { Notice } from '../page/shell.tsx'
import { useTitle } from '../page/title.ts'
import { isMore, waitingAsks, waitingFault } from '../page/waiting.ts'
import { AskCard } from './ask-card.tsx'
import { askKey, inPlace } from './open-questions.ts'
import { CommandOutcome } from './outcome.tsx'

/**
 * The questions of all runs to people. A question that someone decides while the page is open stays and shows who
 * decided.
 */
export function InboxScreen() {
  useTitle('Inbox')
  const [kept, setKept] = useState<readonly AskView[]>([])
  // The card that receives the keys. No card receives them after this card disappears.
  const [chosen, setChosen] = useState<{ readonly key: string; readonly index: number } | null>(null)
  const open = waitingAsks.value
  useEffect(() => {
    if (open !== null) setKept((before) => inPlace(before, open))
  }, [open])
  useEffect(() => {
    if (chosen === null && kept[0] !== undefined) setChosen({ key: askKey(kept[0]), index: 0 })
  }, [chosen, kept])
  const at = kept.findIndex((ask) => askKey(ask) === chosen?.key)
  const move = (by: 1 | -1) => {
    const from = at >= 0 ? at + by : (chosen?.index ?? 0) - (by < 0 ? 1 : 0)
    const index = Math.min(kept.length - 1, Math.max(0, from))
    const ask = kept[index]
    if (ask === undefined) return
    setChosen({ key: askKey(ask), index })
    document.querySelectorAll('.inbox > li')[index]?.scrollIntoView({ block: 'nearest' })
  }
  useKeys({ j: () => move(1), k: () => move(-1) })
  return (
    <div class="screen">
      <div class="bar">
        <h1>Inbox</h1>
        <span class="quiet">j, k: the next, the one before · a: approve · r: reject with a reason</span>
      </div>
      <CommandOutcome />
      {waitingFault.value !== '' && (
        <p class="fault" role="alert">
          {waitingFault.value}
        </p>
      )}
      {open === null && waitingFault.value === '' && <p class="quiet about">loading …</p>}
      {open !== null && kept.length === 0 && open.length === 0 ? (
        <Notice title="Nothing waits for a person">
          <p>
            Approvals, unknown outcomes and questions of agents come here by themselves. A run asks before a tool that
            its policy does not approve, such as a command.
          </p>
          <p>
            <a class="button" href="/start">
              Start a run
            </a>
          </p>
          <p>On the command line, this list is:</p>
          <pre>keepup approvals</pre>
        </Notice>
      ) : (
        <ol class="inbox">
          {kept.map((ask, index) => (
            <li key={askKey(ask)} aria-current={index === at || undefined}>
              <AskCard ask={ask} keys={index === at} />
            </li>
          ))}
          {isMore.value && <li class="quiet">More approvals wait; they come here as these are decided.</li>}
        </ol>
      )}
    </div>
  )
}
