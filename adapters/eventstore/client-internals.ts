import type { Duplex } from 'node:stream'
import type { EventStoreDBClient } from '@eventstore/db-client'

/** Members of the client that its types omit. */
export interface Inner {
  readonly capabilities: Promise<{ serverVersion: string }>
  supports(method: { path: string }): Promise<boolean>
  getChannel(): Promise<{ close(): void }>
  handleError(client: unknown, error: Error): Promise<void>
  callArguments(options: object, call: { deadline: number }): unknown[]
  GRPCStreamCreator(
    service: unknown,
    call: string,
    open: (grpc: unknown) => Duplex,
    cache?: unknown,
  ): () => Promise<Duplex>
}

export const innerOf = (client: EventStoreDBClient) => client as unknown as Inner

/**
 * Ignores failures of the client's handling of a lost connection, which fails if the discovery of the next node fails.
 * The unhandled rejection would end the process.
 */
export function patched(client: EventStoreDBClient): EventStoreDBClient {
  const inner = innerOf(client)
  const { handleError } = inner
  inner.handleError = (lost, error) => handleError(lost, error).catch(() => undefined)
  return client
}
