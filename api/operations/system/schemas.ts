import { z } from 'zod'
import { FileChanged, Folder, Id } from '../schemas.ts'

/** `replaced`: the version of the files before the restore. Restoring this version undoes the restore. */
export const Restored = z
  .strictObject({
    runId: z.string(),
    dryRun: z.boolean(),
    tree: z.string(),
    replaced: z.string(),
    changes: z.array(FileChanged).readonly().meta({ description: 'deleted: files that the version does not know' }),
  })
  .meta({ id: 'Restored' })

export const Health = z
  .strictObject({
    ok: z.boolean(),
    logId: z.string(),
    driving: z.int().nonnegative(),
    readOnly: z.boolean(),
    drivesDue: z
      .boolean()
      .meta({ description: 'It drives by itself what is due, and tries again what could not go on' }),
  })
  .meta({ id: 'Health' })

const Part = z.enum(['answers', 'silent', 'unusable', 'shortened', 'replaced']).meta({
  description:
    '`shortened`: the log has lost its end, and nothing is recorded until a person accepts the loss; `replaced`: another ' +
    'log or file took its place, and the process must be started again',
})
export const Ready = z
  .strictObject({
    ready: z.boolean(),
    log: Part,
    tables: Part,
    parked: z.int().nullable().meta({
      description:
        'Streams that the tables cannot take any further, which stop no other; null where the tables do not answer',
    }),
    signed: z.boolean().nullable().meta({
      description: 'A signed head covers every event that is older than a minute; null: not known',
    }),
  })
  .meta({ id: 'Ready' })

/** A stream that the tables cannot read from the event at `revision` on. They contain the events before it. */
export const Parked = z
  .strictObject({ stream: z.string(), runId: z.string(), revision: z.int(), code: z.string(), error: z.string() })
  .meta({ id: 'Parked', description: 'A stream that the tables cannot read further, with the reason' })

/** The cursors of the tables' position and of the log's head. Null before the first event. */
export const ProjectionsStatus = z
  .strictObject({
    position: z.string().nullable(),
    head: z.string().nullable(),
    behind: z
      .int()
      .nonnegative()
      .meta({ description: 'Events that the tables did not show when this was asked; 10000: that many or more' }),
    rebuilding: z
      .strictObject({ events: z.int().nonnegative(), of: z.int().nonnegative() })
      .nullable()
      .meta({ description: 'How many events a rebuild of this process has read, of those in the tables; null: none' }),
    parked: z.array(Parked).readonly(),
    orphans: z
      .array(z.strictObject({ agentId: z.string(), runId: z.string(), parentId: z.string() }))
      .readonly()
      .meta({ description: 'Agents that no process drives: the stream of the parent has lost their births' }),
    restoring: z
      .array(
        z.strictObject({
          runId: z.string(),
          agentId: z.string(),
          step: z.int().nullable(),
          tree: z.string().nullable(),
          replaces: z.string().nullable(),
          requestedAt: z.string(),
        }),
      )
      .readonly()
      .meta({ description: 'Restores of files that have not ended: at work, or their process was lost' }),
  })
  .meta({ id: 'Projections' })

export const Rebuilt = z
  .strictObject({
    events: z.int(),
    equal: z.boolean().nullable().meta({
      description:
        'Null: there was nothing to compare with (the tables were damaged or altered); they were only made anew',
    }),
    switched: z.boolean().meta({ description: 'The tables that were made anew are the live ones now' }),
    differences: z.array(z.string()).readonly(),
  })
  .meta({ id: 'Rebuilt' })

/** `accept`: switch to the rebuilt tables even if they differ from the live ones. */
export const RebuildBody = z.strictObject({ accept: z.boolean().default(false) }).meta({ id: 'Rebuild' })

/** One stream, those of a run, or all parked ones. */
export const ReleaseBody = z
  .strictObject({
    stream: Id.optional(),
    runId: Id.optional(),
    all: z.literal(true).optional(),
  })
  .refine((b) => [b.stream, b.runId, b.all].filter((v) => v !== undefined).length === 1, {
    error: 'give one of stream, runId and all',
  })
  .meta({ id: 'Release' })

/** The number of released streams, and the streams that are still parked. */
export const Released = ProjectionsStatus.extend({ released: z.int().nonnegative() }).meta({ id: 'Released' })
export const BackupBody = z.strictObject({ folder: Folder }).meta({ id: 'Backup' })
export const BackedUp = z
  .strictObject({ folder: z.string(), files: z.array(z.string()).readonly(), bytes: z.int() })
  .meta({ id: 'BackedUp' })
export const SecretName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, { error: 'expected the name of a variable: letters, digits and _' })
export const SecretNames = z.strictObject({ names: z.array(z.string()).readonly() }).meta({ id: 'SecretNames' })
/** `warning`: why the value is not hidden in records, and what to do. Absent: it is hidden. */
export const SecretSet = SecretNames.extend({ warning: z.string().optional() }).meta({ id: 'SecretSet' })
export const SecretBody = z.strictObject({ value: z.string().min(1).max(65_536) }).meta({ id: 'Secret' })
