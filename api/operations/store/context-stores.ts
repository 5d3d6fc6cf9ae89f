import { contextStream } from '../../../domain/store/aggregate.ts'
import { noStore, notFound } from '../../../domain/store/errors.ts'
import type { StreamProof } from '../../../domain/stream/runtime/proof.ts'
import { exportStreams } from '../events/export.ts'
import { shown } from '../runs/idempotency.ts'
import { mustWrite } from '../runs/record-command.ts'
import { actorOf, type RequestOptions, tracing } from '../runs/request-options.ts'
import type { Services } from '../services.ts'
import { asStored } from '../streams/prove-stream.ts'
import type {
  EraseVariables,
  StoreList,
  StoreShown,
  VariableShown,
  VariablesErased,
  VariablesQuery,
} from './schemas.ts'

// Operations on stores of context variables, for people. The tables must be caught up.

/** Stores in the order of their names. */
export async function listStores(s: Services, { after, limit }: { after?: string | undefined; limit: number }) {
  const { position, value } = await s.read.contextStores({ after, limit: limit + 1 })
  const stores = value.slice(0, limit)
  return { position, stores, next: value.length > limit ? stores.at(-1)!.store : null } satisfies StoreList
}

/** A store with a page of its variables, in the order of their keys. Rejects with `STORE_UNKNOWN`. */
export async function showStore(s: Services, name: string, query: VariablesQuery): Promise<StoreShown> {
  const { limit } = query
  const { position, value } = await s.read.contextStore(name, { ...query, limit: limit + 1 })
  if (value === null) throw noStore(name)
  const variables = value.variables.slice(0, limit)
  const next = value.variables.length > limit ? variables.at(-1)!.key : null
  return { position, store: value.store, variables, next }
}

/** A variable with its value. Rejects with `STORE_UNKNOWN`, and with `VARIABLE_NOT_FOUND`, also for an erased value. */
export async function getVariable(s: Services, store: string, key: string): Promise<VariableShown> {
  const { position, value: variable } = await s.read.storedVariable(store, key)
  if (variable === null) await mustExist(s, store)
  if (variable === null || variable.deletedAt !== null) throw notFound(key)
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
  const done = await s.contexts.erase(store, key, { code, reason }, { by: actorOf('user', by), ...tracing(options) })
  await shown(s)
  return { store, ...done }
}

/** Verifies a store like `asStored`. Rejects with `STORE_UNKNOWN`. */
export async function verifyStore(s: Services, store: string): Promise<StreamProof> {
  return asStored(s, contextStream(store), () => s.contexts.verify(store))
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
