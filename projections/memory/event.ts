import type { Header } from '../../domain/log/envelope.ts'
import type { MemoryEvent } from '../../domain/memory/events.ts'

/** A fact's event for the row rules. `event` null: the body was erased without a residue. */
export interface ProjectedMemoryEvent {
  readonly header: Header
  readonly position: number
  readonly event: MemoryEvent | null
}
