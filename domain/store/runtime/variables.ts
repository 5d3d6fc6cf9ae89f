import type { Json } from '../../log/json.ts'
import type { Caused, VariableRef } from '../../ports/variables.ts'

/** The storage of a store's variables. Keys and values are already checked. */
export interface Variables {
  /** The store's name in the log; null: the store is only in memory. */
  readonly store: string | null
  set(ref: VariableRef, value: Json, caused?: Caused): Promise<void>
  /** Undefined: the variable is not set. */
  get(key: string): Promise<Json | undefined>
  ref(key: string): Promise<VariableRef | undefined>
  /** Rejects with `VARIABLE_NOT_FOUND`. */
  delete(key: string): Promise<void>
  /** In any order. */
  refs(): Promise<readonly VariableRef[]>
}
