import type { RecordedEvent, SealedEvent } from '../../domain/log/envelope.ts'
import { LogError } from '../../domain/log/errors.ts'
import { LOG_META } from '../../domain/log/ids.ts'
import type { Appender } from './append.ts'
import type { StreamReader } from './read.ts'

/**
 * The log's first event, which contains its identity. If there is none, `make` seals it. If two processes start at
 * once, one event is written, and both get it.
 */
export async function identify(
  reader: StreamReader,
  appender: Appender,
  namespace: string,
  make: () => SealedEvent,
): Promise<RecordedEvent> {
  const [found] = await reader.some(LOG_META, 0, 1).catch((error: unknown) => {
    throw error instanceof LogError && error.code === 'LOG_CORRUPT' ? removed(namespace, error) : error
  })
  if (found) return found
  await appender.append(LOG_META, -1, [make()]).catch((error: unknown) => {
    if (!(error instanceof LogError && error.code === 'CONFLICT')) throw error
  })
  const [made] = await reader.some(LOG_META, 0, 1)
  if (made) return made
  throw new LogError('LOG_UNAVAILABLE', `${LOG_META} was written and cannot be read; open the log again`)
}

/** If a deleted stream is written to again, its revisions continue, but a log must begin with revision 0. */
const removed = (namespace: string, cause: LogError) =>
  new LogError(
    'LOG_CORRUPT',
    `the log of the namespace ${namespace} was removed from this event store, where its name cannot be used again: set ` +
      `another namespace (KEEPUP_NAMESPACE). Was it removed by mistake: ${cause.message}`,
    { cause },
  )
