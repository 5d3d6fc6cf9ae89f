import type { Header } from '../../domain/log/envelope.ts'
import type { ContextEvent } from '../../domain/store/events.ts'

/** A store's event for the row rules. `event` null: the body was erased without a residue. */
export interface ProjectedContextEvent {
  readonly header: Header
  readonly position: number
  readonly erased: boolean
  readonly event: ContextEvent | null
}
