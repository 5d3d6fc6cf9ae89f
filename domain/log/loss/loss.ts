import { z } from 'zod'
import { canonicalBytes } from '../canonical.ts'
import { type Actor, FORMAT, type RecordedEvent, type SealedEvent } from '../envelope.ts'
import { LogError } from '../errors.ts'
import { LOG_META } from '../ids.ts'
import { saltBody, seal, unsalted } from '../seal.ts'

// Storage format: an event of `log-meta` that records an accepted loss which no other stream can record itself.

export const LOG_LOSS_ACCEPTED = 'log_loss_accepted'
const VERSION = 1

const Place = z.strictObject({ from: z.int().positive(), to: z.int().positive() })

export const LogLoss = z.strictObject({
  /** Identifies the loss. An acceptance resumed after a crash uses the same id. */
  id: z.string().min(1),
  /** Position of the last remaining event. */
  end: z.int().nonnegative(),
  /** The last event that the mark, or the tables, had seen; null: nothing beyond the remaining events. */
  mark: z.strictObject({ position: z.int(), hash: z.string() }).nullable(),
  tables: z.strictObject({ position: z.int(), hash: z.string() }).nullable(),
  /** Vanished streams, with their last event in the tables; -1 and '' when only the log names the stream. */
  vanished: z.array(
    z.strictObject({
      stream: z.string(),
      revision: z.int(),
      hash: z.string(),
      /** The cost of the stream's model calls according to the tables; absent: unknown. */
      nanoDollars: z.int().nonnegative().optional(),
    }),
  ),
  /**
   * Unreadable streams, which cannot record the loss themselves: the revision of the last remaining event (null:
   * unreadable too) and the code of the error. Absent: none.
   */
  unreadable: z
    .array(z.strictObject({ stream: z.string(), revision: z.int().nullable(), code: z.string() }))
    .optional(),
  /** Positions without an event before later events. */
  gaps: z.array(Place),
  /**
   * The leaves of the signed tree before the first lost one. Heads of at most this size cover no lost event. Absent: no
   * tree tells.
   */
  kept: z.int().nonnegative().optional(),
  reason: z.string().optional(),
})
export type LogLoss = z.infer<typeof LogLoss>

/** Seals an accepted loss as the next event of `log-meta`. `salt`: 16 random bytes. `timestamp`: ISO 8601 with ms. */
export function sealLoss(
  head: { readonly revision: number; readonly hash: string },
  loss: LogLoss,
  about: { readonly by: Actor; readonly salt: Uint8Array; readonly timestamp: string },
): SealedEvent {
  const body = saltBody(canonicalBytes(loss), about.salt)
  const header = {
    format: FORMAT,
    stream: LOG_META,
    type: LOG_LOSS_ACCEPTED,
    version: VERSION,
    turn: 0,
    revision: head.revision + 1,
    timestamp: about.timestamp,
    commandId: `loss:${loss.id}`,
    actor: about.by,
    body: body.header,
  } as const
  return seal(head.hash, header, body.bytes)
}

/** The accepted loss that an event of `log-meta` records; null: it records none. Throws `LOG_NEWER`. */
export function lossIn({ header, body }: RecordedEvent): LogLoss | null {
  if (header.type !== LOG_LOSS_ACCEPTED || body === null) return null
  const parsed =
    header.version === VERSION ? LogLoss.safeParse(JSON.parse(new TextDecoder().decode(unsalted(body)))) : null
  if (parsed?.success) return parsed.data
  const at = `${LOG_META} at revision ${header.revision}`
  throw new LogError(
    'LOG_NEWER',
    `${at} records an accepted loss as a newer keepup does; use that version or a newer one`,
  )
}
