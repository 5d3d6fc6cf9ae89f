import type { z } from 'zod'
import type { StreamProof } from '../../../domain/stream/runtime/proof.ts'
import type { Services } from '../services.ts'
import { eraseVariables, listStores, showStore, verifyStore } from './context-stores.ts'
import {
  EraseVariables,
  type StoredVariable,
  type StoreSummary,
  type VariablesErased,
  VariablesQuery,
} from './schemas.ts'

/** Filters for variables. `deleted`: include deleted ones. */
export interface VariablesWanted {
  readonly prefix?: string
  readonly deleted?: boolean
}

/** The stores of context variables in the log. Methods reject with errors that have a stable `code`. */
export interface KeptContextStores {
  /** Stores in the order of their names. */
  list(): AsyncIterable<StoreSummary>
  /**
   * The variables of a store in the order of their keys, without their values. `contextStore(name).get` returns values.
   */
  variables(store: string, wanted?: VariablesWanted): AsyncIterable<StoredVariable>
  /** Erases all values of a variable permanently, or with `all` those of all variables. Not on servers. */
  erase(store: string, what: z.input<typeof EraseVariables>): Promise<VariablesErased>
  /** Verifies the chain, the bodies and the digests. */
  verify(store: string): Promise<StreamProof>
}

type Parse = <T extends z.ZodType>(schema: T, value: unknown) => z.output<T>

/** `asker`: the default person of commands. */
export const contextStoresOf = (s: Services, parsed: Parse, asker: (said?: string) => string): KeptContextStores => ({
  async *list() {
    await s.read.caughtUp()
    for (let after: string | null | undefined; after !== null; ) {
      const page = await listStores(s, { limit: 500, after })
      yield* page.stores
      after = page.next
    }
  },
  async *variables(store, { prefix, deleted } = {}) {
    const which = { limit: '500', prefix, ...(deleted === true ? { deleted: 'true' } : {}) }
    await s.read.caughtUp()
    for (let after: string | null | undefined; after !== null; ) {
      const page = await showStore(s, store, parsed(VariablesQuery, { ...which, after }))
      yield* page.variables
      after = page.next
    }
  },
  erase: async (store, what) => eraseVariables(s, store, parsed(EraseVariables, { ...what, by: asker(what.by) }), {}),
  verify: (store) => verifyStore(s, store),
})
