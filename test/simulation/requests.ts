import type { Runtime } from '../../domain/agent/runtime/runtime.ts'
import type { DocumentGateway } from '../../domain/document/runtime/gateway.ts'
import type { ContextStores } from '../../domain/store/runtime/context-stores.ts'

/** What one process serves. */
export interface Served {
  readonly runtime: Runtime
  readonly documents: DocumentGateway
  readonly contexts: ContextStores
}

/** A request of a person or a program, repeated until it is answered. */
export interface Request {
  readonly what: string
  send(served: Served, key: string): Promise<unknown>
  /** The request was answered. Throws or reports if the answer is not true. */
  done(answer: unknown, key: string): void
}
