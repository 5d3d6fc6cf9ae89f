import { z } from 'zod'
import { HoldId, KEPT, MAX_DAYS } from '../../../domain/access/keeping.ts'
import { By, Id } from '../schemas.ts'
import { isPlain, PLAIN } from '../text/plain-text.ts'

const Reason = z.string().trim().min(1).max(1000).refine(isPlain, PLAIN)
const Days = z.int().min(0).max(MAX_DAYS).nullable().meta({
  description: 'Days after the end of a run, or after the last change of the others; null: never by policy',
})
const Subject = z.enum(KEPT).meta({
  description:
    'run: with all its agents, and its tags and notes; external: a run of another agent; document: the requests to it',
})

export const SetRetention = z.strictObject({ of: Subject, days: Days, by: By.optional() }).meta({ id: 'SetRetention' })

const RetentionOf = z
  .strictObject({
    of: Subject,
    days: Days,
    by: z.string().nullable().meta({ description: 'null: it was never set' }),
    at: z.string().nullable(),
  })
  .meta({ id: 'RetentionOf', description: 'How long texts of a kind are kept' })

export const Retention = z
  .strictObject({
    retention: z.array(RetentionOf).readonly(),
    erases: z
      .boolean()
      .meta({ description: 'false: this event store cannot empty bodies, so the policy has no effect' }),
  })
  .meta({ id: 'Retention' })

export const SweepBody = z
  .strictObject({
    dryRun: z.boolean().default(false).meta({ description: 'Only say what would be erased' }),
    limit: z.int().min(1).max(1000).default(100).meta({ description: 'The most subjects to erase' }),
  })
  .meta({ id: 'SweepRetention' })

const Swept = z
  .strictObject({
    of: Subject,
    id: z.string(),
    since: z.string().meta({ description: 'When it ended, or last changed' }),
    bodies: z.int(),
    bytes: z.int(),
  })
  .meta({ id: 'Swept', description: 'What a sweep has erased' })

const Spared = z
  .strictObject({ of: Subject, id: z.string(), since: z.string(), code: z.string(), why: z.string() })
  .meta({ id: 'Spared', description: 'What a sweep did not erase, with the reason' })

export const Sweep = z
  .strictObject({
    dryRun: z.boolean(),
    erased: z.array(Swept).readonly().meta({ description: 'With dryRun: what would be erased' }),
    spared: z.array(Spared).readonly().meta({ description: 'Old enough, but held, unfinished or not to be erased' }),
    more: z.boolean().meta({ description: 'true: the limit left others for the next sweep' }),
  })
  .meta({ id: 'Sweep' })
export type Sweep = z.infer<typeof Sweep>

export const HoldParam = z.strictObject({ hold: HoldId })

export const HoldsQuery = z.strictObject({
  all: z.enum(['true', 'false']).optional().meta({ description: 'true: also those that were lifted' }),
})

export const SetHold = z
  .strictObject({
    of: Id.meta({ description: 'The id of a run, which holds all its agents, or the name of a stream' }),
    reason: Reason,
    by: By.optional(),
  })
  .meta({ id: 'SetHold' })

export const LiftHold = z.strictObject({ reason: Reason, by: By.optional() }).meta({ id: 'LiftHold' })

export const Hold = z
  .strictObject({
    hold: z.string(),
    of: z.string().meta({ description: 'The stream; that of a run’s root agent stands for the whole run' }),
    reason: z.string(),
    by: z.string(),
    at: z.string(),
    lifted: z.strictObject({ by: z.string(), at: z.string(), reason: z.string().nullable() }).nullable(),
  })
  .meta({ id: 'Hold', description: 'An order that nothing of a run or a stream is erased' })

export const HoldList = z.strictObject({ holds: z.array(Hold).readonly() }).meta({ id: 'HoldList' })

export const KeepingChanged = z
  .strictObject({ revision: z.int(), recorded: z.boolean().meta({ description: 'false: it was so before' }) })
  .meta({ id: 'KeepingChanged' })

export const HoldChanged = KeepingChanged.extend({ hold: z.string(), of: z.string() }).meta({ id: 'HoldChanged' })
