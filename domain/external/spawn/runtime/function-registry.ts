import type { Json, JsonObject } from '../../../log/json.ts'
import type { OfferedFunctions } from '../../../ports/spawn.ts'
import { SpawnError } from '../errors.ts'
import { checkFunction, type FunctionContext, type FunctionSpec, type RegisteredFunction } from '../functions.ts'

/** Functions of this program that a subprocess may call over MCP while it runs (seed 004). */
export class FunctionRegistry implements OfferedFunctions {
  readonly #functions = new Map<string, RegisteredFunction>()

  /** Throws `INVALID_FUNCTION` for an invalid function or a registered name. */
  register(one: RegisteredFunction): this {
    checkFunction(one)
    if (this.#functions.has(one.name))
      throw new SpawnError('INVALID_FUNCTION', `${one.name} is registered already; register each function once`)
    this.#functions.set(one.name, one)
    return this
  }

  /** Sorted by name. */
  list(): readonly FunctionSpec[] {
    return [...this.#functions.values()]
      .map(({ name, description, parameters }) => ({ name, description, parameters }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /**
   * Calls a function. Null: the function returned undefined. Rejects with `UNKNOWN_FUNCTION`, or with the function's
   * error.
   */
  async call(name: string, args: JsonObject, context: FunctionContext): Promise<Json> {
    const one = this.#functions.get(name)
    if (one === undefined) throw new SpawnError('UNKNOWN_FUNCTION', `there is no function "${name}"; see the list`)
    return (await one.call(args, context)) ?? null
  }
}
