import type { Json, JsonObject } from '../../../log/json.ts'
import type { OfferedFunctions } from '../../../ports/spawn.ts'
import { SpawnError } from '../errors.ts'
import { checkFunction, type FunctionContext, type FunctionSpec, type RegisteredFunction } from '../functions.ts'

/** Functions of this program that a subprocess may call while it runs (seed 004): an MCP server offers them to it. */
export class FunctionRegistry implements OfferedFunctions {
  readonly #functions = new Map<string, RegisteredFunction>()

  /** Throws `INVALID_FUNCTION` for what cannot be offered, or has a name that is taken. */
  register(one: RegisteredFunction): this {
    checkFunction(one)
    if (this.#functions.has(one.name))
      throw new SpawnError('INVALID_FUNCTION', `${one.name} is registered already; register each function once`)
    this.#functions.set(one.name, one)
    return this
  }

  /** In the order of their names. */
  list(): readonly FunctionSpec[] {
    return [...this.#functions.values()]
      .map(({ name, description, parameters }) => ({ name, description, parameters }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** The answer of the function; null where it answers nothing. Rejects with `UNKNOWN_FUNCTION`, or as the function does. */
  async call(name: string, args: JsonObject, context: FunctionContext): Promise<Json> {
    const one = this.#functions.get(name)
    if (one === undefined) throw new SpawnError('UNKNOWN_FUNCTION', `there is no function "${name}"; see the list`)
    return (await one.call(args, context)) ?? null
  }
}
