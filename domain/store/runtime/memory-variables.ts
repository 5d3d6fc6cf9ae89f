import type { Json } from '../../log/json.ts'
import type { VariableRef } from '../../ports/variables.ts'
import { ContextError, variableNotFound } from '../errors.ts'
import { MAX_VARIABLES } from '../variable.ts'
import type { Variables } from './variables.ts'

/** Variables in the memory of this process. */
export class MemoryVariables implements Variables {
  readonly store = null
  readonly #held = new Map<string, { readonly ref: VariableRef; readonly value: Json }>()

  async set(ref: VariableRef, value: Json): Promise<void> {
    if (this.#held.size >= MAX_VARIABLES && !this.#held.has(ref.key))
      throw new ContextError(
        'STORE_FULL',
        `the store holds ${MAX_VARIABLES} variables; delete some, or use another store`,
      )
    this.#held.set(ref.key, { ref, value })
  }

  async get(key: string): Promise<Json | undefined> {
    return structuredClone(this.#held.get(key)?.value)
  }

  async ref(key: string): Promise<VariableRef | undefined> {
    return this.#held.get(key)?.ref
  }

  async delete(key: string): Promise<void> {
    if (!this.#held.delete(key)) throw variableNotFound(key)
  }

  async refs(): Promise<readonly VariableRef[]> {
    return [...this.#held.values()].map(({ ref }) => ref)
  }
}
