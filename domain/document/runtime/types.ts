import type { Actor } from '../../log/envelope.ts'
import type { Documents, MarkupParser, ReadBlock } from '../../ports/index.ts'
import type { StreamPorts } from '../../stream/runtime/ports.ts'

/** All that the gateway needs of the world. */
export interface DocumentPorts extends StreamPorts {
  readonly documents: Documents
  readonly parse: MarkupParser
  /** Whether a text holds a known secret value. Absent: none is known. */
  holdsSecret?(text: string): Promise<boolean>
}

/** A person or an agent's call that sends a request. */
export interface Caller {
  readonly by: Actor
  /** Tells callers apart: an idempotency key belongs to one document and one of these. */
  readonly name: string
  /** Of an agent's call: its run, the call, and `<stream>@<revision>` of its intent. */
  readonly runId?: string
  readonly toolCallId?: string
  readonly causationId?: string
  readonly correlationId?: string
  /** W3C trace context. */
  readonly trace?: string
  /** Whether a text holds a secret that the run behind the request knows. */
  holdsSecret?(text: string): boolean
}

/** A document at one revision of its stream. */
export interface DocumentAt {
  readonly documentId: string
  readonly title: string
  readonly revision: number
  readonly frontier: string
  /** Rolling hash over all updates up to the revision. */
  readonly root: string
  readonly blocks: readonly ReadBlock[]
}

/** The end of an import. `recorded` false: the document had all of the update. */
export interface Imported {
  readonly revision: number
  readonly frontier: string
  readonly recorded: boolean
}
