import type { Duplex } from 'node:stream'
import type { EventStoreDBClient } from '@eventstore/db-client'

/** What the client does not show in its types. */
export interface Inner {
  getChannel(): Promise<{ close(): void }>
  handleError(client: unknown, error: Error): Promise<void>
  GRPCStreamCreator(
    service: unknown,
    call: string,
    open: (grpc: unknown) => Duplex,
    cache?: unknown,
  ): () => Promise<Duplex>
}

/**
 * The same client without what ends a process: it does not wait for its own handling of a lost connection, which fails
 * where the search for the next node fails, and what its stream of appends throws and rejects is outside of any call.
 */
export function patched(client: EventStoreDBClient): EventStoreDBClient {
  const inner = client as unknown as Inner
  const { handleError, GRPCStreamCreator } = inner
  inner.handleError = (lost, error) => handleError(lost, error).catch(() => undefined)
  inner.GRPCStreamCreator = (service, call, open, cache) => {
    const opened = (grpc: unknown) => neverThrowing(neverFull(open(grpc)))
    return GRPCStreamCreator(service, call, call === 'appendToStream' ? opened : open, cache)
  }
  return client
}

/**
 * Appends that wait for a full stream become unhandled rejections where it ends before there is room. So it never says
 * that it is full; how much waits in it is bounded before.
 */
function neverFull<T extends Duplex>(stream: T): T {
  const write = stream.write.bind(stream) as (message: unknown) => boolean
  return Object.assign(stream, {
    write(message: unknown) {
      write(message)
      return true
    },
  })
}

/**
 * The client throws at an answer that nobody waits for any more: the end of another stream of appends of this process has
 * rejected them all. Whoever asked sends it again; an answer that cannot be read is as none, which has a time limit.
 */
function neverThrowing<T extends Duplex>(stream: T): T {
  for (const listener of stream.listeners('data') as ((answer: unknown) => void)[]) {
    stream.off('data', listener)
    stream.on('data', (answer: unknown) => {
      try {
        listener.call(stream, answer)
      } catch {
        // Its append is in doubt, and is asked about by being sent again.
      }
    })
  }
  return stream
}
