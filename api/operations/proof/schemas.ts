import { z } from 'zod'
import { Actor } from '../../../domain/log/envelope.ts'
import { ANCHOR_KINDS, ORIGIN_REASONS } from '../../../domain/proof/events.ts'
import { By, Coverage, Digits } from '../schemas.ts'
import { StreamParam } from '../streams/schemas.ts'

const Size = z.int().meta({ description: 'The number of the first events that the head covers' })

export const ProofHead = z
  .strictObject({
    origin: z.string().meta({ description: 'The name of the tree and of its key' }),
    size: Size,
    checkpoint: z.string().meta({ description: 'A signed C2SP checkpoint' }),
    signedAt: z.string(),
  })
  .meta({ id: 'ProofHead', description: 'A signed head of the tree over the events of the log' })

export const CurrentHead = ProofHead.extend({
  vkey: z.string().nullable().meta({ description: 'The verifier key of the log; null: this log has none yet' }),
}).meta({ id: 'CurrentHead' })

export const HeadsQuery = z.strictObject({
  after: Digits.prefault('0').meta({ type: 'integer', description: '`next` of the page before' }),
  limit: Digits.pipe(z.int().min(1).max(500)).prefault('50').meta({ type: 'integer' }),
})

export const ProofHeads = z
  .strictObject({ heads: z.array(ProofHead).readonly(), next: z.int().nullable() })
  .meta({ id: 'ProofHeads' })

export const EventParams = StreamParam.extend({ revision: Digits.meta({ type: 'integer' }) })

export const EventProof = z
  .strictObject({
    stream: z.string(),
    revision: z.int(),
    hash: z.string(),
    index: z.int().meta({ description: 'The number of the event in the whole log, from 0' }),
    size: Size,
    file: z.string().meta({ description: 'The content of a .tlog-proof file (c2sp.org/tlog-proof)' }),
  })
  .meta({ id: 'EventProof' })

export const ConsistencyQuery = z.strictObject({
  from: Digits.meta({ type: 'integer', description: 'The size of the earlier head' }),
  to: Digits.meta({ type: 'integer', description: 'The size of the later head' }),
})

export const ConsistencyProof = z
  .strictObject({ from: z.int(), to: z.int(), hashes: z.array(z.string()).readonly() })
  .meta({ id: 'ConsistencyProof' })

export const VerifyHeadsQuery = z.strictObject({
  anchors: z
    .enum(['true', 'false'])
    .prefault('false')
    .meta({ description: 'true: also compare with what the anchors hold now' }),
  streams: z
    .enum(['true', 'false'])
    .prefault('false')
    .meta({ description: 'true: also say for each stream how far the heads cover it' }),
  checkpoint: z
    .string()
    .max(10_000)
    .optional()
    .meta({ description: 'A signed checkpoint of this log that you kept: the log must continue it' }),
  vkey: z
    .string()
    .max(500)
    .optional()
    .meta({ description: 'A verifier key of this log that you kept: the log must have signed with it' }),
})

export const VerifiedHeads = z
  .strictObject({
    ok: z.boolean(),
    events: z.int(),
    signed: z.int().meta({ description: 'The first events that a valid signature covers' }),
    recorded: z.int().meta({
      description: 'The first events that an anchor keeps a head of, according to the log; anchors=true asks it',
    }),
    anchored: z.int().meta({
      description: 'The first events with evidence from outside: what an anchor holds now, or a witness cosigned',
    }),
    heads: z.int(),
    superseded: z.int().meta({ description: 'Heads that the log no longer continues since an accepted loss' }),
    losses: z
      .array(
        z.strictObject({
          by: Actor,
          at: z.string(),
          reason: z.string().nullable(),
          kept: z.int().meta({ description: 'The events of before the loss that the log has' }),
          head: z.strictObject({ name: z.string(), size: Size }).nullable().meta({
            description: 'The largest head of before that the log does not continue; null: it continues every head',
          }),
        }),
      )
      .readonly()
      .meta({ description: 'The losses that persons have accepted' }),
    origins: z
      .array(
        z.strictObject({
          origin: z.string(),
          vkeys: z.array(z.string()).readonly(),
          reason: z
            .enum(ORIGIN_REASONS)
            .nullable()
            .meta({ description: 'Why it began; no earlier key signs a new origin' }),
          at: z.string().nullable().meta({ description: 'When it began' }),
        }),
      )
      .readonly(),
    problems: z
      .array(
        z.strictObject({
          code: z.enum(['HEAD', 'KEY', 'ANCHOR', 'CHECKPOINT', 'CUT', 'TREE']),
          size: z.int().nullable(),
          message: z.string(),
        }),
      )
      .readonly(),
    checkpoint: z
      .strictObject({ ok: z.boolean(), origin: z.string().nullable(), size: z.int().nullable() })
      .optional()
      .meta({ description: 'With checkpoint: whether the log continues it' }),
    unasked: z
      .array(z.strictObject({ anchor: z.string(), kind: z.enum(ANCHOR_KINDS), target: z.string(), why: z.string() }))
      .readonly()
      .optional()
      .meta({ description: 'With anchors=true: anchors with recorded heads whose answer does not count, and why' }),
    streams: z
      .array(z.strictObject({ stream: z.string(), proof: Coverage }))
      .readonly()
      .optional()
      .meta({ description: 'With streams=true: each stream of the log' }),
  })
  .meta({ id: 'VerifiedHeads' })

export const WitnessKeyWanted = z.strictObject({ by: By.optional() })
export const WitnessKey = z.strictObject({ vkey: z.string() }).meta({ id: 'WitnessKey' })

export const WitnessedLogs = z
  .strictObject({
    vkey: z.string().nullable().meta({ description: 'The key of the witness; null: it has none yet' }),
    logs: z
      .array(
        z.strictObject({
          origin: z.string(),
          vkeys: z.array(z.string()).readonly(),
          size: z.int().nullable().meta({ description: 'The events of the last cosigned head; null: none yet' }),
          cosignedAt: z.string().nullable(),
        }),
      )
      .readonly(),
  })
  .meta({ id: 'WitnessedLogs' })

export const AddWitnessedLog = z.strictObject({
  vkey: z.string().min(1).max(500).meta({ description: 'The verifier key of the log' }),
  by: By.optional(),
})
export const RemoveWitnessedLog = z.strictObject({ origin: z.string().min(1).max(500), by: By.optional() })

export const WitnessedLogChanged = z
  .strictObject({ origin: z.string(), vkey: z.string().nullable(), revision: z.int(), recorded: z.boolean() })
  .meta({ id: 'WitnessedLogChanged' })

export const RotateKey = z.strictObject({
  by: By.optional(),
  lost: z
    .boolean()
    .optional()
    .meta({ description: 'true: no machine has the current key any more, so a new origin begins with the new key' }),
})
export const RebuiltTree = z.strictObject({ events: z.int() }).meta({ id: 'RebuiltTree' })
export const RotatedKey = z.strictObject({ vkey: z.string() }).meta({ id: 'RotatedKey' })

const AnchorName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,39}$/, { error: 'expected up to 40 lower-case letters, digits and hyphens' })

export const AnchorParam = z.object({ anchor: AnchorName })

export const AddAnchor = z.strictObject({
  anchor: AnchorName,
  kind: z.enum(ANCHOR_KINDS),
  target: z.string().min(1).max(2_000).meta({ description: 'The path of a folder, or a URL' }),
  vkey: z.string().min(1).max(500).optional().meta({ description: 'The verifier key of a witness' }),
  by: By.optional(),
})

export const RemoveAnchor = z.strictObject({ by: By.optional() })
export const AnchorNow = z.strictObject({ anchor: AnchorName.optional(), by: By.optional() })

export const AnchorChanged = z
  .strictObject({ anchor: z.string(), revision: z.int(), recorded: z.boolean() })
  .meta({ id: 'AnchorChanged' })

const Failed = z.strictObject({ message: z.string(), at: z.string() })

export const ProofStatus = z
  .strictObject({
    head: ProofHead.nullable(),
    vkey: z.string().nullable().meta({ description: 'The verifier key of the log; null: this log has none yet' }),
    unsigned: z.int().nullable().meta({
      description: 'The events that no head covers, counted up to 1,000; null: the log does not continue the tree',
    }),
    unsignedSince: z
      .string()
      .nullable()
      .meta({ description: 'The time of the oldest event that no head covers; null: there is none' }),
    late: z.boolean().meta({ description: 'That event is older than a minute' }),
    why: z.string().optional().meta({ description: 'Why the last attempt to sign failed' }),
    keyMissing: z.boolean().meta({ description: 'This machine does not have the key, so another one must sign' }),
    anchors: z
      .array(
        z.strictObject({
          anchor: z.string(),
          kind: z.string(),
          target: z.string(),
          size: z.int().nullable().meta({ description: 'The events of its last head; null: it has none yet' }),
          anchoredAt: z.string().nullable(),
          failure: Failed.nullable(),
        }),
      )
      .readonly(),
  })
  .meta({ id: 'ProofStatus' })

export const AnchorList = z
  .strictObject({
    anchors: z
      .array(
        z.strictObject({
          anchor: z.string(),
          kind: z.enum(ANCHOR_KINDS),
          target: z.string(),
          vkey: z.string().optional(),
          size: z.int().nullable().meta({ description: 'The events of its last head; null: it has none yet' }),
          anchoredAt: z.string().nullable().meta({ description: 'When it got that head' }),
          failure: Failed.nullable(),
        }),
      )
      .readonly(),
  })
  .meta({ id: 'AnchorList' })

export const AnchorsMade = z
  .strictObject({
    anchors: z
      .array(z.strictObject({ anchor: z.string(), size: z.int(), ok: z.boolean(), message: z.string().optional() }))
      .readonly(),
  })
  .meta({ id: 'AnchorsMade' })
