import { useEffect, useState } from 'preact/hooks'
import type { AskView } from '../../operations/approvals/schemas.ts'
import type { Detail } from '../run/run-model.ts'
import { AskCard } from './ask-card.tsx'
import { askKey } from './open-questions.ts'
import { CommandOutcome } from './outcome.tsx'

/**
 * The questions of a run to people, and the result of the last command. The first question keeps the keys until the
 * person moves on, even after someone else decides it. So no key answers a question that has just appeared.
 */
export function RunAsks({ detail: { asks } }: { detail: Detail }) {
  const [chosen, setChosen] = useState<AskView | null>(null)
  const first = asks[0]
  useEffect(() => {
    if (chosen === null && first !== undefined) setChosen(first)
  }, [chosen, first])
  const key = chosen && askKey(chosen)
  const isOpen = asks.some((ask) => askKey(ask) === key)
  const shown = chosen?.for !== 'approval' || isOpen || asks.length === 0 ? asks : [chosen, ...asks]
  const next = () => setChosen(asks.find((ask) => askKey(ask) !== key) ?? null)
  return (
    <>
      <CommandOutcome />
      {shown.length > 0 && (
        <div class="run-asks">
          {shown.map((ask) => (
            <AskCard key={askKey(ask)} ask={ask} keys={askKey(ask) === key} next={next} />
          ))}
        </div>
      )}
    </>
  )
}
