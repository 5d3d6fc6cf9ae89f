import type { Json, JsonObject } from '../../log/json.ts'
import { SpawnError } from './errors.ts'

/** A function that the subprocess may call. `parameters`: a JSON Schema of an object. */
export interface FunctionSpec {
  readonly name: string
  /** One line, for the prompt. */
  readonly description: string
  readonly parameters: JsonObject
}

/** The context of a call. `signal` aborts when the calling run ends. */
export interface FunctionContext {
  readonly agentId: string
  readonly signal: AbortSignal
}

/** A function that the program offers to spawned agents. */
export interface RegisteredFunction extends FunctionSpec {
  /** Answers a call with JSON. The caller gets the message of a thrown error. */
  call(args: JsonObject, context: FunctionContext): Json | undefined | Promise<Json | undefined>
}

/** Names that models and MCP accept. */
const NAME = /^[a-zA-Z][a-zA-Z0-9_-]{0,47}$/
const MAX_DESCRIPTION = 1_000

/** Throws `INVALID_FUNCTION` for an invalid name, description or parameters. */
export function checkFunction({ name, description, parameters }: FunctionSpec): void {
  if (typeof name !== 'string' || !NAME.test(name))
    throw invalid('the name of a function has 1 to 48 letters, digits, "-" and "_", and begins with a letter')
  if (typeof description !== 'string' || description.trim() === '' || /\p{Cc}/u.test(description))
    throw invalid(`the description of ${name} is one line that says what the function does`)
  if (description.length > MAX_DESCRIPTION)
    throw invalid(`the description of ${name} is over ${MAX_DESCRIPTION} characters; shorten it`)
  if (parameters === null || typeof parameters !== 'object' || parameters.type !== 'object')
    throw invalid(`the parameters of ${name} are a JSON Schema with "type": "object"`)
}

const invalid = (message: string) => new SpawnError('INVALID_FUNCTION', message)
