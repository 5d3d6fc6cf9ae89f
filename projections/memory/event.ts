import type { Header } from '../../domain/log/envelope.ts'
import type { MemoryEvent } from '../../domain/memory/events.ts'

/** A fact's event as the row rules take it. `event` null: its body was erased and left no residue. */
export interface ProjectedMemoryEvent {
  readonly header: Header
  readonly position: number
  readonly event: MemoryEvent | null
}
