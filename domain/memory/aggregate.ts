import { defineKind } from '../stream/define-kind.ts'
import { decideMemory } from './decide.ts'
import { MemoryError } from './errors.ts'
import { memoryBodies } from './events.ts'
import { evolveMemory, MEMORY_FOLD } from './state.ts'

/** A fact that outlives conversations, saved by agents and people, as one kind of stream: `memory-<scope>-<id>`. */
export const memory = defineKind({
  kind: 'memory',
  noun: 'fact',
  bodies: memoryBodies,
  fold: MEMORY_FOLD,
  evolve: evolveMemory,
  decide: decideMemory,
  // Scope and place remain.
  residues: {
    fact_remembered: (body) => ({ ...body, text: null }),
    fact_corrected: () => ({ text: null }),
    fact_forgotten: () => ({ reason: null }),
  },
  // Other facts may still be shown to runs.
  ends: ['fact_forgotten'],
  reject: (code, message) => new MemoryError(code, message),
})
