import { z } from 'zod'
import { Actor } from '../../../domain/log/envelope.ts'
import { By } from '../schemas.ts'

const LostCall = z.strictObject({
  toolCallId: z.string(),
  toolName: z.string(),
  argumentsHash: z.string(),
  effect: z.string(),
})
const NanoDollars = z
  .int()
  .nullable()
  .meta({ description: 'What the model calls of the lost part cost, as the tables saw them; null: not known' })
const Unreadable = z.strictObject({ stream: z.string(), revision: z.int().nullable(), code: z.string() })
const Gaps = z.array(z.strictObject({ from: z.int(), to: z.int() })).readonly()
const Seen = z.strictObject({ position: z.int(), hash: z.string() })

/** A stream that ends before its last known revision. `kept`: its last event in the log; -1: no event is left. */
export const LostStreamView = z
  .strictObject({
    stream: z.string(),
    runId: z.string(),
    revision: z.int(),
    hash: z.string(),
    kept: z.int(),
    calls: z.array(LostCall).readonly().meta({ description: 'Calls that began in the lost part' }),
    unlisted: z.boolean().meta({ description: 'Other calls may have begun there' }),
    nanoDollars: z.number(),
    unreadable: z
      .string()
      .optional()
      .meta({ description: 'It could not be read when a loss was accepted: the code of the error' }),
  })
  .meta({ id: 'LostStream', description: 'A stream whose end the log has lost' })

export const LossView = z
  .strictObject({
    id: z.string(),
    end: z.int().meta({ description: 'Position of the last event that the log holds' }),
    mark: Seen.nullable().meta({
      description: 'What the mark beside the log has seen, where the log does not hold it',
    }),
    tables: Seen.nullable().meta({ description: 'What the tables have seen, where the log does not hold it' }),
    heads: Seen.optional().meta({
      description:
        'The event of the last signed head, where the log does not hold it; with the root as hash if only an anchor knows it',
    }),
    streams: z.array(LostStreamView).readonly(),
    unlisted: z.boolean().meta({ description: 'Any unfinished run may be shortened' }),
    gaps: Gaps,
    message: z.string(),
  })
  .meta({ id: 'Loss', description: 'What the log has lost at its end, by what its witnesses have seen' })

/** A loss that a person has accepted, with the runs that record it. */
export const AcceptedLoss = z
  .strictObject({
    id: z.string(),
    by: Actor,
    at: z.string().meta({ description: 'ISO 8601' }),
    reason: z.string().nullable(),
    end: z.int().meta({ description: 'Position of the last event that was left' }),
    kept: z.int().optional().meta({
      description:
        'The first events of the signed tree that the log still had; heads of more events are superseded. Absent: no tree was compared',
    }),
    streams: z
      .array(
        z.strictObject({
          runId: z.string(),
          agentId: z.string(),
          revision: z
            .int()
            .nullable()
            .meta({ description: 'Its last event as the tables had seen it; null: not known' }),
          calls: z.array(LostCall).readonly().meta({ description: 'Calls that began in the lost part' }),
          unlisted: z.boolean().meta({ description: 'Other calls may have begun there' }),
          nanoDollars: NanoDollars,
        }),
      )
      .readonly(),
    vanished: z
      .array(
        z.strictObject({
          stream: z.string(),
          revision: z.int(),
          hash: z.string(),
          nanoDollars: z.int().nonnegative().optional(),
        }),
      )
      .readonly(),
    unreadable: z.array(Unreadable).readonly(),
    gaps: Gaps,
  })
  .meta({ id: 'AcceptedLoss', description: 'A loss of the end of the log that a person has accepted' })

/** `open`: nothing is recorded, and no run continues. `loss` null: nothing is missing. */
export const LossReport = z
  .strictObject({
    open: z.boolean(),
    loss: LossView.nullable(),
    accepted: z
      .array(AcceptedLoss)
      .readonly()
      .optional()
      .meta({ description: 'With all=true: the losses that persons have accepted' }),
  })
  .meta({ id: 'LossReport' })

export const ReleaseCallsBody = z
  .strictObject({ by: By.optional(), reason: z.string().trim().min(1).max(2_000).optional() })
  .meta({ id: 'ReleaseCalls' })

export const AcceptLossBody = ReleaseCallsBody.extend({
  id: z
    .string()
    .min(1)
    .max(200)
    .meta({ description: 'The loss that is accepted, as GET /v1/losses?all=true names it' }),
}).meta({ id: 'AcceptLoss' })

/**
 * `runs`: runs whose streams record the acceptance. `unreadable`: streams that cannot record it, so their runs are not
 * driven.
 */
export const LossAccepted = z
  .strictObject({
    loss: LossView.nullable(),
    runs: z.array(z.string()).readonly(),
    unreadable: z.array(Unreadable).readonly(),
  })
  .meta({ id: 'LossAccepted' })
