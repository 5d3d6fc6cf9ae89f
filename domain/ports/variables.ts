import type { Json } from '../log/json.ts'

/** The JSON type of a value. */
export type VariableType = 'string' | 'number' | 'boolean' | 'null' | 'array' | 'object'

/**
 * A reference to a context variable (seed 004), without the value. `bytes`: the UTF-8 size of the value's text: a
 * string itself, or the canonical JSON of another value.
 */
export interface VariableRef {
  readonly key: string
  readonly type: VariableType
  readonly bytes: number
}

/** `runId`: the run that caused a change. */
export interface Caused {
  readonly runId?: string
}

/** A store of context variables (seed 004). A missing key rejects with `Variable not found: <key>`. */
export interface IContextStore {
  /** The store's name in the log; absent or null: the store is only in memory. */
  readonly name?: string | null
  /**
   * Sets a variable to a JSON value and returns its reference. A store in the log records the run in `caused`. Rejects
   * with `INVALID_VARIABLE`, `STORE_FULL`.
   */
  set(key: string, value: unknown, caused?: Caused): Promise<VariableRef>
  get(key: string): Promise<Json>
  ref(key: string): Promise<VariableRef>
  delete(key: string): Promise<void>
  /** References whose key begins with `prefix`, sorted by key. */
  list(prefix?: string): Promise<readonly VariableRef[]>
  /** The start of a variable's text: at most `maxTokens` tokens (default 500) of four UTF-8 bytes each. */
  summarize(variable: string | VariableRef, maxTokens?: number): Promise<string>
  /**
   * Resolves when all variables are durable. With `into`: copies all variables to that store. Rejects with
   * `NOT_DURABLE`.
   */
  persist(into?: IContextStore): Promise<void>
}
