import { canonicalText } from '../log/canonical.ts'
import { sha256 } from '../log/ids.ts'
import type { MemoryEvent } from './events.ts'
import type { Place } from './fact.ts'

/** The fold of a fact's stream. The text is not in it: it may be erased, and the chain proves it. */
export interface MemoryState extends Place {
  readonly corrections: number
  readonly forgotten: boolean
}

/** Raise it where the digested view changes. */
export const FOLD = 1

/** The state after an event. Throws where the event is impossible in this state. */
export function evolve(state: MemoryState | null, event: MemoryEvent): MemoryState {
  if (event.type === 'fact_remembered') {
    if (state !== null) throw new Error('the fact was saved before')
    const { scope, place } = event.body
    return { scope, place, corrections: 0, forgotten: false }
  }
  if (state === null) throw new Error(`${event.type} before fact_remembered`)
  if (event.type === 'residue' || event.type === 'erased') return state
  if (state.forgotten) throw new Error(`${event.type} after fact_forgotten`)
  if (event.type === 'fact_corrected') return { ...state, corrections: state.corrections + 1 }
  return { ...state, forgotten: true }
}

export const digestOf = (state: MemoryState): string => sha256(canonicalText(state))
