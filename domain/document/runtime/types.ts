import type { Actor } from '../../log/envelope.ts'
import type { Documents, MarkupParser, ReadBlock } from '../../ports/index.ts'
import type { StreamPorts } from '../../stream/runtime/ports.ts'

/** The ports of the gateway. */
export interface DocumentPorts extends StreamPorts {
  readonly documents: Documents
  readonly parse: MarkupParser
  /** Whether a text contains a known secret value. Absent: no secrets are known. */
  holdsSecret?(text: string): Promise<boolean>
}

/** The sender of a request: a person or an agent's call. */
export interface DocumentCaller {
  readonly by: Actor
  /** Identifies the caller. An idempotency key belongs to one document and one caller. */
  readonly name: string
  /** Only for an agent's call: its run, the call id, and `<stream>@<revision>` of the call's intent. */
  readonly runId?: string
  readonly toolCallId?: string
  readonly causationId?: string
  readonly correlationId?: string
  /** W3C trace context. */
  readonly trace?: string
  /** Whether a text contains a secret of the requesting run. */
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

/** The result of an import. `recorded` false: the document already had the whole update. */
export interface Imported {
  readonly revision: number
  readonly frontier: string
  readonly recorded: boolean
}
