import type { Duplex } from 'node:stream'
import type { EventStoreDBClient } from '@eventstore/db-client'

// All that keepup uses of the client beyond its API: files of the package, and members that its types omit. The API cannot
// filter a read by stream name, share one call between appends with a deadline of our own, or tell the server's version.
// Another version of the client may move or rename any of it. test/adapters/log/eventstore/stand-in.test.ts notices,
// which runs without a server; `npm run test:servers` checks it against a real one.

export { unpackToCommandError } from '@eventstore/db-client/dist/streams/appendToStream/unpackError.js'
export { default as sharedPb } from '@eventstore/db-client/generated/shared_pb.js'
export { default as streams } from '@eventstore/db-client/generated/streams_grpc_pb.js'
export {
  type BatchAppendReq,
  type BatchAppendResp,
  default as streamsPb,
  type ReadReq,
} from '@eventstore/db-client/generated/streams_pb.js'

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
 * After a lost connection the client looks for another node. If it finds none, its handler rejects. This function
 * ignores that rejection, because an unhandled rejection would end the process.
 */
export function patched(client: EventStoreDBClient): EventStoreDBClient {
  const inner = innerOf(client)
  const { handleError } = inner
  inner.handleError = (lost, error) => handleError(lost, error).catch(() => undefined)
  return client
}
