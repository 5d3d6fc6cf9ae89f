import type { Header } from '../../domain/log/envelope.ts'
import type { ContextEvent } from '../../domain/store/events.ts'

/** A store's event as the row rules take it. `event` null: its body was erased and left no residue. */
export interface ProjectedContextEvent {
  readonly header: Header
  readonly position: number
  readonly erased: boolean
  readonly event: ContextEvent | null
}
