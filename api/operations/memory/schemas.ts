import { z } from 'zod'
import { FACT_BYTES, MEMORY_ID, QUERY_LENGTH, SCOPES } from '../../../domain/calls/memory/request.ts'
import { byteLength } from '../../../domain/calls/truncate.ts'
import { ErasureCode } from '../../../domain/stream/erasure.ts'
import { By, Next, PageQuery, Position, PROOF } from '../schemas.ts'
import { isPlain, PLAIN } from '../text/plain-text.ts'

export const MemoryId = z
  .string()
  .regex(MEMORY_ID, { error: 'expected the id of a memory, as the list shows it' })
  .meta({ description: 'Such as global-0123456789abcdefghjkmnpq' })

const Scope = z.enum(SCOPES).meta({ description: 'The runs that find it: one, all in a workspace, or all' })

export const MemoryQuery = PageQuery.extend({
  scope: Scope.optional(),
  place: z
    .string()
    .max(4096)
    .optional()
    .meta({ description: 'With scope "run": the id of the run; with "workspace": its real path' }),
  q: z
    .string()
    .max(QUERY_LENGTH)
    .refine(isPlain, PLAIN)
    .optional()
    .meta({ description: 'Words: the best matches first, on one page' }),
  forgotten: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .meta({ description: 'true: also those that were forgotten, without their words' }),
})
  .refine(({ scope, place }) => place === undefined || (scope !== undefined && scope !== 'global'), {
    path: ['place'],
    error: 'name the scope of the place: "run" or "workspace"',
  })
  .refine(
    ({ q, scope, place }) => q === undefined || scope === undefined || scope === 'global' || place !== undefined,
    {
      path: ['place'],
      error: 'a search in the scope "run" or "workspace" needs its place',
    },
  )
  .refine(({ q, after, forgotten }) => q === undefined || (after === undefined && forgotten === undefined), {
    path: ['q'],
    error: 'a search has one page, and finds nothing that was forgotten: leave out "after" and "forgotten"',
  })
export type MemoryQuery = z.output<typeof MemoryQuery>

export const Memory = z
  .strictObject({
    id: z.string(),
    scope: Scope,
    place: z.string().meta({ description: 'The id of the run, the path of the workspace, or empty' }),
    text: z.string().nullable().meta({ description: 'Null: it was forgotten' }),
    runId: z.string().nullable().meta({ description: 'The run that saved it; null: a person did' }),
    toolCallId: z.string().nullable(),
    createdAt: z.string(),
    createdBy: z.string(),
    updatedAt: z.string(),
    updatedBy: z.string(),
    revision: z.int(),
    forgottenAt: z.string().nullable(),
    incompleteFrom: z.int().nullable().meta({ description: 'The revision from which on the tables cannot read it' }),
  })
  .meta({ id: 'Memory', description: 'A fact that an agent has saved' })
/** A fact that an agent has saved, as it is now. */
export type Memory = z.infer<typeof Memory>

export const MemoryList = z
  .strictObject({ position: Position, memories: z.array(Memory), next: Next })
  .meta({ id: 'MemoryList' })
export type MemoryList = z.infer<typeof MemoryList>

export const MemoryHistory = z
  .strictObject({
    memory: Memory,
    changes: z.array(
      z.strictObject({
        revision: z.int(),
        type: z.string(),
        at: z.string(),
        by: z.string(),
        toolCallId: z.string().nullable(),
        text: z.string().nullable().meta({ description: 'The words, or the reason; null: none, or erased' }),
      }),
    ),
  })
  .meta({ id: 'MemoryHistory' })
/** The versions of a fact. */
export type MemoryHistory = z.infer<typeof MemoryHistory>

export const CorrectMemory = z
  .strictObject({
    text: z
      .string()
      .trim()
      .min(1)
      .refine((text) => byteLength(text) <= FACT_BYTES, { error: `at most ${FACT_BYTES} bytes` }),
    by: By.optional(),
  })
  .meta({ id: 'CorrectMemory' })
export type CorrectMemory = z.infer<typeof CorrectMemory>

const Reason = z.string().trim().min(1).max(1000)

export const ForgetMemory = z
  .strictObject({
    reason: Reason.optional(),
    code: ErasureCode.optional().meta({ description: 'With "erase": why its words are emptied; default: other' }),
    erase: z.boolean().default(false).meta({ description: 'Also empty its words in the log for ever; embedded only' }),
    by: By.optional(),
  })
  .meta({ id: 'ForgetMemory' })
export type ForgetMemory = z.output<typeof ForgetMemory>

export const MemoryChanged = z
  .strictObject({
    id: z.string(),
    revision: z.int(),
    recorded: z.boolean().meta({ description: 'False: it was so before' }),
  })
  .meta({ id: 'MemoryChanged' })
export type MemoryChanged = z.infer<typeof MemoryChanged>

export const VerifiedMemory = z
  .strictObject({
    id: z.string(),
    ...PROOF,
  })
  .meta({ id: 'VerifiedMemory' })
