import { contextStream } from '../../../domain/store/aggregate.ts'
import { noStore, variableNotFound } from '../../../domain/store/errors.ts'
import type { StreamProof } from '../../../domain/stream/runtime/stream-proof.ts'
import type { Row } from '../../../projections/engine/schema/tables.ts'
import {
  type ContextStoreRow,
  listContextStores,
  listStoredVariables,
  showContextStore,
  showStoredVariable,
} from '../../../projections/index.ts'
import { exportStreams } from '../events/export.ts'
import { camelCased, pageOf } from '../rows.ts'
import { untilShown } from '../runs/idempotency.ts'
import { mustWrite } from '../runs/record-command.ts'
import { actorOf, type RequestOptions, tracing } from '../runs/request-options.ts'
import type { Services } from '../services.ts'
import { asStored, NOTHING, type WithHeads } from '../streams/prove-stream.ts'
import type {
  EraseVariables,
  StoredVariable,
  StoreList,
  StoreShown,
  StoreSummary,
  VariableShown,
  VariablesErased,
  VariablesQuery,
} from './schemas.ts'

// Operations on stores of context variables, for people. The tables must be caught up.

const storeOf = ({ started: _, ...row }: ContextStoreRow): StoreSummary => camelCased(row)

const variableOf = ({ store: _, ...row }: Row<'stored_variables'>): StoredVariable => ({
  ...camelCased(row),
  type: row.type as StoredVariable['type'],
  erased: row.erased === 1,
})

/** Stores in the order of their names. */
export async function listStores(s: Services, { after, limit }: { after?: string | undefined; limit: number }) {
  const { position, value } = await s.read.rows((db) => listContextStores(db, { after, limit: limit + 1 }))
  const { page, next } = await pageOf(value, limit, ({ store }) => store)
  return { position, stores: page.map(storeOf), next } satisfies StoreList
}

/** A store with a page of its variables, in the order of their keys. Rejects with `STORE_UNKNOWN`. */
export async function showStore(s: Services, name: string, query: VariablesQuery): Promise<StoreShown> {
  const { limit } = query
  const { position, value } = await s.read.rows(async (db) => ({
    store: await showContextStore(db, name),
    variables: await listStoredVariables(db, { store: name, ...query, limit: limit + 1 }),
  }))
  if (value.store === undefined) throw noStore(name)
  const { page, next } = await pageOf(value.variables, limit, ({ key }) => key)
  return { position, store: storeOf(value.store), variables: page.map(variableOf), next }
}

/** A variable with its value. Rejects with `STORE_UNKNOWN`, and with `VARIABLE_NOT_FOUND`, also for an erased value. */
export async function getVariable(s: Services, store: string, key: string): Promise<VariableShown> {
  const { position, value: row } = await s.read.rows((db) => showStoredVariable(db, store, key))
  if (row === undefined) await mustExist(s, store)
  if (row === undefined || row.deleted_at !== null) throw variableNotFound(key)
  const variable = variableOf(row)
  return { position, variable, value: await s.contexts.valueAt(store, key, variable.revision) }
}

/** Erases values permanently. Rejects with `STORE_UNKNOWN`, `VARIABLE_NOT_FOUND`, `ERASE_IMPOSSIBLE`. */
export async function eraseVariables(
  s: Services,
  store: string,
  { key = null, code, reason, dryRun, by }: Omit<EraseVariables, 'key'> & { readonly key?: string | null | undefined },
  options: RequestOptions,
): Promise<VariablesErased> {
  if (dryRun) {
    const { revision, bodies } = await s.contexts.erasable(store, key)
    return { store, revision, recorded: false, bodies: bodies.map(({ revision, size }) => ({ revision, size })) }
  }
  mustWrite(s)
  const done = await s.contexts.erase(
    store,
    key,
    { code, reason },
    { by: actorOf('user', by, options), ...tracing(options) },
  )
  await untilShown(s)
  return { store, ...done }
}

/** Verifies a store like `asStored`. Rejects with `STORE_UNKNOWN`. */
export async function verifyStore(s: Services, store: string): Promise<WithHeads<StreamProof>> {
  return asStored(s, contextStream(store), () => s.contexts.verify(store), NOTHING)
}

/** The sealed events of a store as NDJSON, for verification without the log. Rejects with `STORE_UNKNOWN`. */
export async function exportStore(s: Services, store: string): Promise<AsyncGenerator<string>> {
  await mustExist(s, store)
  const stream = contextStream(store)
  return exportStreams(s.log, s.blobs, stream, [stream])
}

async function mustExist(s: Services, store: string): Promise<void> {
  if ((await s.log.head(contextStream(store))) === null) throw noStore(store)
}
