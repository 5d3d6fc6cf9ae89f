import type { z } from 'zod'
import type { Right } from '../../domain/access/rights.ts'
import type { JsonObject } from '../../domain/log/json.ts'
import type { RequestOptions } from './runs/request-options.ts'
import type { Services } from './services.ts'

// Every operation of the product is one object. The HTTP routes, the OpenAPI document, the typed client, the library's
// methods, the MCP tools, the command `call` and the check of rights derive from it.

/** The caller of an operation. `overNetwork`: the request came over TCP, not from the CLI or the library. */
export interface OperationCaller {
  readonly options: RequestOptions
  readonly overNetwork: boolean
}

/** The parts of a request, each with its schema. HTTP reads them from path, query, headers and body. */
export interface Parts {
  readonly params?: z.ZodObject
  readonly query?: z.ZodType
  readonly headers?: z.ZodObject
  readonly body?: z.ZodType
}

type Output<T> = T extends z.ZodType ? z.output<T> : never

/** The validated input of an operation, without its headers. {@link OperationCaller} contains their meaning. */
export type InputOf<P extends Parts> = {
  readonly [K in Exclude<keyof P, 'headers'>]: Output<P[K]>
}

/** The output as an operation may return it: rows of the tables are read-only and need no copy. */
export type Returned<T> = T extends readonly (infer U)[]
  ? readonly Returned<U>[]
  : T extends object
    ? { readonly [K in keyof T]: Returned<T[K]> }
    : T

export type Endpoint = `${'GET' | 'POST' | 'PUT' | 'DELETE'} /v1/${string}`

/** The HTTP statuses of answers that are no problem. 503: the output says that a part does not work. */
export type AnswerStatus = 200 | 201 | 503

/** The meaning of the answers by HTTP status. */
type Answers = { readonly 200: string } & { readonly [S in AnswerStatus]?: string }

/** An output whose answer has another status than 200. */
export class WithStatus<T> {
  readonly status: AnswerStatus
  readonly output: T
  constructor(status: AnswerStatus, output: T) {
    this.status = status
    this.output = output
  }
}

/** An output as pieces of its JSON text: a page of events can be larger than one object should be. */
export class JsonPieces {
  readonly pieces: AsyncIterator<string | Uint8Array> | Iterator<string | Uint8Array>
  constructor(pieces: JsonPieces['pieces']) {
    this.pieces = pieces
  }
}

/** How MCP clients call an operation. */
interface McpTool {
  /** The description for the model. Absent: the summary. */
  readonly description?: string
  /** A narrower body. */
  readonly body?: z.ZodObject
  /** Drive the run after the command. Otherwise the command waits for the next `keepup resume`. */
  readonly drives?: true
  /** The call starts a run, which clients with the tasks extension get as a task. */
  readonly task?: true
  /** Names of members in the tool's input that differ from those in path, query and body. */
  readonly names?: Readonly<Record<string, string>>
  /** What of an answer a model gets that does not ask for all of it. `whole`: everything, because a person decides on it. */
  readonly short?: 'whole' | ((answer: JsonObject) => JsonObject)
}

export interface Operation<
  H extends Endpoint = Endpoint,
  P extends Parts = Parts,
  O extends z.ZodType = z.ZodType,
  A extends Answers = Answers,
  N extends string = string,
> {
  /** Unique over the table. The OpenAPI document's `operationId`. */
  readonly name: N
  /** Method and path. Parameters are in braces. */
  readonly http: H
  /** Null: everyone may, also without a token. */
  readonly right: Right | null
  readonly summary: string
  readonly description?: string
  readonly input: P
  readonly output: O
  readonly answers: A
  /** Offers the operation to MCP clients as a tool. */
  readonly mcp?: McpTool
  /** Wait until the tables include everything recorded. If the tables lag, the answer has a header for that. */
  readonly awaitsTables?: true
  /** The revision for the answer's ETag. */
  readonly revision?: (output: Returned<z.output<O>>) => number
  /** The path of the created resource. */
  readonly location?: (output: Returned<z.output<O>>) => string
  readonly run: (
    services: Services,
    input: InputOf<P>,
    caller: OperationCaller,
  ) => Promise<Returned<z.output<O>> | WithStatus<Returned<z.output<O>>> | JsonPieces>
}

/** An operation of any shape, for the adapters that derive from the table. */
// biome-ignore lint/suspicious/noExplicitAny: the input and output of `run` vary against each other.
export type AnyOperation = Operation<any, any, any, any>

/** Defines an operation, with the types of its input and output. */
export const operation = <
  const H extends Endpoint,
  const P extends Parts,
  O extends z.ZodType,
  const A extends Answers,
  const N extends string,
>(
  definition: Operation<H, P, O, A, N>,
): Operation<H, P, O, A, N> => definition

/** The members of an object schema, also inside checks, transforms and optional schemas. */
export function membersOf(schema: z.ZodType | undefined): Readonly<Record<string, z.ZodType>> {
  const { shape, def } = (schema ?? {}) as {
    readonly shape?: Record<string, z.ZodType>
    readonly def?: { readonly in?: z.ZodType; readonly innerType?: z.ZodType }
  }
  const inner = def?.in ?? def?.innerType
  return shape ?? (inner === undefined ? {} : membersOf(inner))
}

/** The parts of an operation's input, each with the members of its schema. */
export const inputMembers = ({ params, query, body }: Parts) => ({
  params: membersOf(params),
  query: membersOf(query),
  body: membersOf(body),
})

/** Sorts the members of a request into the parts of an operation's input. `unknown`: members of none of them. */
export function partsOf(input: Parts, request: Readonly<Record<string, unknown>>) {
  const members = inputMembers(input)
  const parts = { params: {}, query: {}, body: {} } as Record<keyof typeof members, Record<string, unknown>>
  const unknown: string[] = []
  for (const [key, value] of Object.entries(request)) {
    const part = (['params', 'query', 'body'] as const).find((one) => Object.hasOwn(members[one], key))
    if (part === undefined) unknown.push(key)
    // Paths and queries contain text only.
    else if (value !== undefined) parts[part][key] = part === 'body' ? value : String(value)
  }
  return { ...parts, unknown }
}
