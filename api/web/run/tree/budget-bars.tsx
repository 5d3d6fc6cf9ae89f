import { Fragment } from 'preact'
import { money, number } from '../../parts/format.ts'
import type { TreeNode } from '../run-model.ts'

const KINDS = [
  ['tokens', 'tokens', number],
  ['nanoDollars', 'money', money],
  ['agents', 'agents', number],
] as const

interface BudgetBarsProps extends Pick<TreeNode, 'budget'> {
  /** Whether the figures stand below the bars. */
  readonly words: boolean
}

/** A bar for each limit of an agent's budget: the spent part, and the part that is reserved for its children. */
export function BudgetBars({ budget, words }: BudgetBarsProps) {
  return (
    <>
      {KINDS.map(([kind, word, unit]) => {
        const { given, spent, reserved } = budget?.[kind] ?? { given: null, spent: 0, reserved: 0 }
        // Each run has a limit of agents. An agent alone uses one.
        if (given === null || (kind === 'agents' && spent + reserved <= 1)) return null
        const share = (n: number) => `${given === 0 ? 100 : Math.min(100, (100 * n) / given)}%`
        const text = `${word}: ${unit(spent)} of ${unit(given)}${reserved > 0 ? `, ${unit(reserved)} reserved` : ''}`
        return (
          <Fragment key={kind}>
            <span class="budget" role="img" aria-label={text} title={text}>
              {/* An agent that has used up its agents can still work. */}
              <span
                class={kind !== 'agents' && spent > 0.9 * given ? 'spent near' : 'spent'}
                style={{ width: share(spent) }}
              />
              <span class="reserved" style={{ width: share(reserved) }} />
            </span>
            {words && <span class="quiet">{text}</span>}
          </Fragment>
        )
      })}
    </>
  )
}
