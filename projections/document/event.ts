import type { DocumentEvent } from '../../domain/document/stream/events.ts'
import type { Header } from '../../domain/log/envelope.ts'

/** A document's event as the row rules take it. `event` null: its body was erased and left no residue. */
export interface ProjectedDocumentEvent {
  readonly header: Header
  readonly position: number
  readonly erased: boolean
  readonly event: DocumentEvent | null
}
