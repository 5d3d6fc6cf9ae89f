import type { Header } from '../log/envelope.ts'
import type { Aggregate } from '../stream/aggregate.ts'
import { UNDRIVEN } from '../stream/undriven.ts'
import { reading } from './codec.ts'
import { decide, type MemoryCommand, type MemoryContext } from './decide.ts'
import { MemoryError } from './errors.ts'
import type { BodyOf, MemoryEvent } from './events.ts'
import { digestOf, evolve, FOLD, type MemoryState } from './state.ts'

/** A fact that outlives conversations, saved by agents and people, as one kind of stream: `memory-<scope>-<id>`. */
export const memory: Aggregate<MemoryState, MemoryEvent, MemoryCommand, MemoryContext> = {
  kind: 'memory',
  fold: FOLD,
  ...reading,
  evolve,
  decide,
  digest: digestOf,
  ...UNDRIVEN,
  reject: (code, message) => new MemoryError(code, message),
  erasing: { says: (type) => SAYS.has(type), residue, ending },
}

const SAYS: ReadonlySet<string> = new Set(['fact_remembered', 'fact_corrected', 'fact_forgotten'])

/** Erases the text. Scope and place remain. */
function residue(type: string, body: unknown): unknown {
  if (type === 'fact_remembered') return { ...(body as BodyOf<'fact_remembered'>), text: null }
  if (type === 'fact_corrected') return { text: null }
  return type === 'fact_forgotten' ? { reason: null } : body
}

/** Only forgotten facts may be erased. Other facts may still be shown to runs. */
function ending() {
  let ended = false
  return {
    see: ({ type }: Header) => {
      ended ||= type === 'fact_forgotten'
    },
    get ended() {
      return ended
    },
  }
}
