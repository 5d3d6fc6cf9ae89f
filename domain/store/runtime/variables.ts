import type { Json } from '../../log/json.ts'
import type { VariableRef } from '../variable.ts'

/** `runId`: the run that caused a change. */
export interface Caused {
  readonly runId?: string
}

/** Where a store keeps its variables. Keys and values are checked by now. */
export interface Variables {
  /** Names the store in the log; null: it is in memory alone. */
  readonly store: string | null
  set(ref: VariableRef, value: Json, caused?: Caused): Promise<void>
  /** Undefined: it is not set. */
  get(key: string): Promise<Json | undefined>
  ref(key: string): Promise<VariableRef | undefined>
  /** Rejects with `VARIABLE_NOT_FOUND`. */
  delete(key: string): Promise<void>
  /** In any order. */
  refs(): Promise<readonly VariableRef[]>
}
