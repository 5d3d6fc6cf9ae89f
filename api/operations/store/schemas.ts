import { z } from 'zod'
import { MAX_ERASURE_REASON } from '../../../domain/agent/decide/commands.ts'
import { MAX_KEY, STORE_NAME } from '../../../domain/store/variable.ts'
import { ErasureCode } from '../../../domain/stream/erasure.ts'
import { AnyJson, By, Digits, Next, Position, PROOF } from '../schemas.ts'
import { isPlain, PLAIN } from '../text/plain-text.ts'

export const StoreName = z
  .string()
  .regex(STORE_NAME, { error: 'expected the name of a store, as the list shows it' })
  .meta({ description: 'Its stream is context-<store>' })

const Key = z.string().min(1).max(MAX_KEY).refine(isPlain, PLAIN)

const limit = Digits.pipe(z.int().min(1).max(500)).prefault('100').meta({ type: 'integer' })

export const StoresQuery = z.strictObject({
  after: StoreName.optional().meta({ description: 'The last store of the page before' }),
  limit,
})

export const VariablesQuery = z.strictObject({
  prefix: Key.optional().meta({ description: 'The beginning of the keys' }),
  deleted: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .meta({ description: 'true: also those that were deleted' }),
  after: Key.optional().meta({ description: 'The last key of the page before' }),
  limit,
})
export type VariablesQuery = z.output<typeof VariablesQuery>

export const VariableQuery = z.strictObject({ key: Key })

export const StoreSummary = z
  .strictObject({
    store: z.string(),
    variables: z.int().meta({ description: 'Those that are set' }),
    bytes: z.int().meta({ description: 'Of their values' }),
    revision: z.int().meta({ description: 'Of the last change' }),
    createdAt: z.string(),
    createdBy: z.string(),
    updatedAt: z.string(),
    updatedBy: z.string(),
    incompleteFrom: z.int().nullable().meta({ description: 'The revision from which on the tables cannot read it' }),
  })
  .meta({ id: 'ContextStore', description: 'A store of context variables' })
/** A store of variables. */
export type StoreSummary = z.infer<typeof StoreSummary>

export const StoredVariable = z
  .strictObject({
    key: z.string(),
    type: z.enum(['string', 'number', 'boolean', 'null', 'array', 'object']),
    bytes: z.int(),
    revision: z.int().meta({ description: 'Of the event that holds the value' }),
    at: z.string(),
    setBy: z.string(),
    runId: z.string().nullable().meta({ description: 'The run whose result it is; null: no run caused it' }),
    deletedAt: z.string().nullable(),
    deletedBy: z.string().nullable(),
    erased: z.boolean().meta({ description: 'The value was emptied for ever' }),
  })
  .meta({ id: 'StoredVariable', description: 'A context variable without its value' })
/** A variable of a store with its author and its run. */
export type StoredVariable = z.infer<typeof StoredVariable>

export const StoreList = z
  .strictObject({ position: Position, stores: z.array(StoreSummary), next: Next })
  .meta({ id: 'ContextStoreList' })
export type StoreList = z.infer<typeof StoreList>

export const StoreShown = z
  .strictObject({ position: Position, store: StoreSummary, variables: z.array(StoredVariable), next: Next })
  .meta({ id: 'ContextStoreShown' })
export type StoreShown = z.infer<typeof StoreShown>

export const VariableShown = z
  .strictObject({ position: Position, variable: StoredVariable, value: AnyJson })
  .meta({ id: 'VariableShown' })
export type VariableShown = z.infer<typeof VariableShown>

export const EraseVariables = z
  .strictObject({
    key: Key.optional().meta({ description: 'Every value that this variable has had' }),
    all: z.literal(true).optional().meta({ description: 'Every value that any variable has had' }),
    code: ErasureCode.optional(),
    reason: z.string().trim().min(1).max(MAX_ERASURE_REASON),
    dryRun: z.boolean().default(false),
    by: By.optional(),
  })
  .refine(({ key, all }) => (key === undefined) === (all === true), { error: 'give either "key" or "all"' })
  .meta({ id: 'EraseVariables' })
export type EraseVariables = z.output<typeof EraseVariables>

export const VariablesErased = z
  .strictObject({
    store: z.string(),
    revision: z.int(),
    recorded: z.boolean().meta({ description: 'False: a dry run, or it was so before' }),
    bodies: z
      .array(z.strictObject({ revision: z.int(), size: z.int() }))
      .optional()
      .meta({ description: 'Of a dry run, what would be emptied' }),
  })
  .meta({ id: 'VariablesErased' })
/** What an erasure of variables has emptied. */
export type VariablesErased = z.infer<typeof VariablesErased>

export const VerifiedStore = z
  .strictObject({
    store: z.string(),
    ...PROOF,
  })
  .meta({ id: 'VerifiedStore' })
export type VerifiedStore = z.infer<typeof VerifiedStore>
