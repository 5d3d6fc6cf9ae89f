import { blobsOf } from '../../log/blobs.ts'
import type { SealedEvent } from '../../log/envelope.ts'
import { ownerOf } from '../../log/owner.ts'
import type { Head } from '../../ports/index.ts'
import { chained, type Unsealed } from '../sealing.ts'
import { append } from './append.ts'
import type { Retry } from './append-retry.ts'
import { type Addressed, BlobWrites } from './blob-writes.ts'
import type { StreamPorts } from './ports.ts'
import { SaltTape } from './salt-tape.ts'

/** The time and randomness of one attempt to append. */
export interface Making {
  readonly now: number
  salt(): Uint8Array
  jitter(): number
}

/** The events of one append, and the attachments that they name. Without events nothing is appended. */
interface Made {
  readonly events: readonly Unsealed[]
  readonly attached?: readonly Addressed[]
}

/**
 * This function records every event. It takes the time, decides, seals and enqueues in one synchronous step, so no
 * other writer of this process can append in between. Blobs are durable before the append: when the events need new
 * blobs, `record` stores them and calls `make` again, with the same salts and the new time. Returns an empty list when
 * `make` returns no events. Call it inside `once` or `repeat` of `retry`. Rejects with errors of `make`, ConflictError
 * and other LogErrors.
 */
export async function record(
  ports: StreamPorts,
  stream: string,
  head: Head | null,
  retry: Retry,
  make: (making: Making) => Made,
): Promise<readonly SealedEvent[]> {
  await ports.crashPoint?.('before_append')
  const tape = new SaltTape(ports.random)
  let writes: BlobWrites | null = null
  for (;;) {
    tape.rewind()
    const now = Math.max(ports.clock.now(), head?.timestamp ?? 0, ports.log.floor())
    const { events, attached = [] } = make({ now, salt: () => tape.salt(), jitter: () => tape.jitter() })
    const first = events[0]
    if (first === undefined) return []
    const large = blobsOf(events.map(({ body }) => body.header.size))
    const stored: Addressed[] = [...large.map((i) => events[i]!.body), ...attached]
    writes ??= new BlobWrites(ports, { stream, runId: ownerOf({ stream, ...first.header }) })
    if (await writes.put(stored)) {
      await ports.crashPoint?.('after_blobs')
      continue
    }
    const sealed = chained(stream, head, events, new Set(large))
    await append(ports, stream, head?.revision ?? -1, sealed, retry).catch(async (error: unknown) => {
      await writes?.refused(error)
      throw error
    })
    await writes.named(stored.map(({ header }) => header.hash))
    await ports.crashPoint?.('after_append')
    return sealed
  }
}
