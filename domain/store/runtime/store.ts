import type { Json } from '../../log/json.ts'
import type { Caused, IContextStore, VariableRef } from '../../ports/variables.ts'
import { ContextError, variableNotFound } from '../errors.ts'
import { checkKey, keptValue, refOf, SUMMARY_TOKENS, summaryOf } from '../variable.ts'
import { MemoryVariables } from './memory-variables.ts'
import type { Variables } from './variables.ts'

/**
 * A store in memory, or over the log: `keepup.contextStore(name)`. It copies values, so later changes by the caller
 * have no effect.
 */
export class ContextStore implements IContextStore {
  readonly #variables: Variables

  constructor(variables: Variables = new MemoryVariables()) {
    this.#variables = variables
  }

  get name(): string | null {
    return this.#variables.store
  }

  async set(key: string, value: unknown, caused?: Caused): Promise<VariableRef> {
    checkKey(key)
    const kept = keptValue(key, value)
    await this.#variables.set(refOf(key, kept), kept, caused)
    return this.ref(key)
  }

  async get(key: string): Promise<Json> {
    const value = await this.#variables.get(key)
    if (value === undefined) throw variableNotFound(key)
    return value
  }

  async ref(key: string): Promise<VariableRef> {
    const ref = await this.#variables.ref(key)
    if (ref === undefined) throw variableNotFound(key)
    return { ...ref }
  }

  async delete(key: string): Promise<void> {
    await this.#variables.delete(key)
  }

  async list(prefix = ''): Promise<readonly VariableRef[]> {
    const found = (await this.#variables.refs()).filter(({ key }) => key.startsWith(prefix))
    return found.sort((a, b) => (a.key < b.key ? -1 : 1)).map((ref) => ({ ...ref }))
  }

  async summarize(variable: string | VariableRef, maxTokens = SUMMARY_TOKENS): Promise<string> {
    return summaryOf(await this.get(typeof variable === 'string' ? variable : variable.key), maxTokens)
  }

  async persist(into?: IContextStore): Promise<void> {
    if (into !== undefined) for (const { key } of await this.list()) await into.set(key, await this.get(key))
    else if (this.name === null)
      throw new ContextError(
        'NOT_DURABLE',
        'this store is in memory alone; name the store that is to hold its variables',
      )
  }
}
