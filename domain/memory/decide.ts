import type { FactOwner } from '../calls/memory/request.ts'
import type { Emit } from '../stream/emitter.ts'
import { MemoryError } from './errors.ts'
import type { memoryBodies } from './events.ts'
import type { MemoryState } from './state.ts'

export type MemoryCommand =
  | ({ readonly kind: 'remember'; readonly text: string } & FactOwner)
  | { readonly kind: 'correct'; readonly text: string }
  | { readonly kind: 'forget'; readonly reason: string | null }

/** One event, or none if the fact is already forgotten. Throws MemoryError if the command is refused. */
export function decideMemory(state: MemoryState | null, command: MemoryCommand, emit: Emit<typeof memoryBodies>): void {
  if (command.kind === 'remember') {
    if (state !== null) throw new MemoryError('MEMORY_EXISTS', 'the fact was saved before')
    const { scope, place, text } = command
    return emit('fact_remembered', { scope, place, text })
  }
  if (state === null) throw new MemoryError('MEMORY_UNKNOWN', 'there is no such fact; list the memories to find it')
  if (command.kind === 'forget') {
    if (!state.forgotten) emit('fact_forgotten', { reason: command.reason })
    return
  }
  if (state.forgotten)
    throw new MemoryError('MEMORY_FORGOTTEN', 'the fact was forgotten and cannot be corrected; save a new one')
  emit('fact_corrected', { text: command.text })
}
