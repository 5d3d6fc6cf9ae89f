import type { Duplex } from 'node:stream'
import type { EventStoreDBClient } from '@eventstore/db-client'

/** Members of the client that its types do not show. */
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
 * The same client without what ends a process: it does not wait for its own handling of a lost connection, which fails
 * where the search for the next node fails.
 */
export function patched(client: EventStoreDBClient): EventStoreDBClient {
  const inner = innerOf(client)
  const { handleError } = inner
  inner.handleError = (lost, error) => handleError(lost, error).catch(() => undefined)
  return client
}
