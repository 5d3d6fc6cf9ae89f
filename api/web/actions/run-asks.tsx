import { useEffect, useState } from 'preact/hooks'
import type { AskView } from '../../operations/approvals/schemas.ts'
import type { Detail } from '../run/run-model.ts'
import { AskCard } from './ask-card.tsx'
import { keyOf } from './asked.ts'
import { Outcome } from './outcome.tsx'

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
  const key = chosen && keyOf(chosen)
  const isOpen = asks.some((ask) => keyOf(ask) === key)
  const shown = chosen?.for !== 'approval' || isOpen || asks.length === 0 ? asks : [chosen, ...asks]
  const next = () => setChosen(asks.find((ask) => keyOf(ask) !== key) ?? null)
  return (
    <>
      <Outcome />
      {shown.length > 0 && (
        <div class="run-asks">
          {shown.map((ask) => (
            <AskCard key={keyOf(ask)} ask={ask} keys={keyOf(ask) === key} next={next} />
          ))}
        </div>
      )}
    </>
  )
}
