import type { DocumentEvent } from '../../domain/document/stream/events.ts'
import type { Header } from '../../domain/log/envelope.ts'

/** A document's event for the row rules. `event` null: the body was erased without a residue. */
export interface ProjectedDocumentEvent {
  readonly header: Header
  readonly position: number
  readonly erased: boolean
  readonly event: DocumentEvent | null
}
