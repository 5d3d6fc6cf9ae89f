import { expect, onTestFinished } from 'vitest'
import type { SealedEvent } from '../../domain/log/envelope.ts'
import type { EventLog } from '../../domain/ports/index.ts'
import { Sealer } from '../support/log/sealing.ts'

/** How an adapter is brought into the kit. */
export interface EventLogFactory {
  readonly name: string
  /** A new, empty log (or a namespace of its own on a shared server). The kit closes it. */
  open(): Promise<EventLog>
  /**
   * `ids`: an append at an old revision is compared by ids alone, so that forged ones pass. `hashes`: they are refused.
   */
  readonly idempotence: 'ids' | 'hashes'
  /** Bodies can be emptied in place. */
  readonly erases: boolean
}

/** An event as it was sealed, without what the log adds. */
export const asSealed = ({ header, body, hash, id }: SealedEvent): SealedEvent => ({
  header,
  body: body && new Uint8Array(body),
  hash,
  id,
})

/** Opens one of the factory's logs until the test has finished. */
export async function opened(factory: EventLogFactory): Promise<{ log: EventLog; sealer: Sealer }> {
  const log = await factory.open()
  onTestFinished(() => log.close())
  return { log, sealer: new Sealer() }
}

/** Matches a LogError by its code. */
export const code = (name: string) => expect.objectContaining({ code: name })
