import type { FactOwner } from '../calls/memory/request.ts'
import type { FactEvent } from './events.ts'

/**
 * The folded state of a fact's stream. It excludes the text, because the text may be erased; the chain proves the text.
 */
export interface MemoryState extends FactOwner {
  readonly corrections: number
  readonly forgotten: boolean
}

/** Increase this when the digested view changes. */
export const MEMORY_FOLD = 1

/** The state after an event. Throws if the event cannot follow. */
export function evolveMemory(state: MemoryState | null, event: FactEvent): MemoryState {
  if (event.type === 'fact_remembered') {
    if (state !== null) throw new Error('the fact was saved before')
    const { scope, place } = event.body
    return { scope, place, corrections: 0, forgotten: false }
  }
  if (state === null) throw new Error(`${event.type} before fact_remembered`)
  if (state.forgotten) throw new Error(`${event.type} after fact_forgotten`)
  if (event.type === 'fact_corrected') return { ...state, corrections: state.corrections + 1 }
  return { ...state, forgotten: true }
}
