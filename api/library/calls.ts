import type { z } from 'zod'
import { runOfRequest } from '../operations/access/run-of-request.ts'
import {
  type AnyOperation,
  inputMembers,
  JsonPieces,
  partsOf,
  type Returned,
  WithStatus,
} from '../operations/operation.ts'
import { Problem } from '../operations/problem.ts'
import type { RequestOptions } from '../operations/runs/request-options.ts'
import type { Services } from '../operations/services.ts'
import { ADDED_OPERATIONS, OPERATIONS } from '../operations/table.ts'

import { parsed } from './parsed.ts'
import type { Callers } from './sender.ts'

// The library's methods for the operations of the table.

type Named = { readonly [Op in (typeof OPERATIONS)[number] as Op['name']]: Op }

type PartOf<Op extends AnyOperation, Part extends string> = Part extends keyof Op['input'] ? Op['input'][Part] : unknown
/** A path and a query contain text only. For a text that is parsed as a number, a program may pass the number. */
type Texts<I, O> = { [K in keyof I]: I[K] | Extract<O[K & keyof O], number> }
type TextsOf<S> = S extends z.ZodType ? Texts<z.input<S>, z.output<S>> : unknown
type BodyOf<S> = S extends z.ZodType ? z.input<S> : unknown

/** The members of an operation's path, query and body. */
type Asked<Op extends AnyOperation> = TextsOf<PartOf<Op, 'params'>> &
  TextsOf<PartOf<Op, 'query'>> &
  BodyOf<PartOf<Op, 'body'>>
type Answer<Op extends AnyOperation> = Returned<z.output<Op['output']>>

/** The operations as methods. `by` absent: the default person. */
export type Calls = {
  readonly [N in keyof Named]: (
    ...asked: object extends Asked<Named[N]>
      ? [asked?: Asked<Named[N]>, options?: RequestOptions]
      : [asked: Asked<Named[N]>, options?: RequestOptions]
  ) => Promise<Answer<Named[N]>>
}

/** The answer of an operation: `AnswerOf<'getRunTree'>`. */
export type AnswerOf<N extends keyof Named> = Answer<Named[N]>

/** The operations that answer with a page of rows. */
export type ListName = {
  [N in keyof Named]: Answer<Named[N]> extends { readonly next: string | null } ? N : never
}[keyof Named]
type RowIn<Page> = { [K in keyof Page]: Page[K] extends readonly (infer Row)[] ? Row : never }[keyof Page]
/** A row of a list: `RowOf<'listMemories'>`. */
export type RowOf<N extends ListName> = RowIn<Answer<Named[N]>>
/** The request for rows. `limit`: the most rows. */
export type RowsAsked<N extends ListName> = Omit<Asked<Named[N]>, 'limit' | 'after'> & { readonly limit?: number }

export function callsOver(s: Services, callers: Callers): Calls {
  const operations: readonly AnyOperation[] = [...OPERATIONS, ...ADDED_OPERATIONS]
  const methods = operations.map((one) => [
    one.name,
    (asked: Readonly<Record<string, unknown>> = {}, options: RequestOptions = {}) =>
      call(s, one, callers, asked, options),
  ])
  return Object.assign({} as Calls, Object.fromEntries(methods))
}

async function call(
  s: Services,
  { name, http, right, input, awaitsTables, run }: AnyOperation,
  callers: Callers,
  asked: Readonly<Record<string, unknown>>,
  options: RequestOptions,
): Promise<unknown> {
  const { unknown, ...parts } = partsOf(input, asked)
  const members = inputMembers(input)
  if (unknown.length > 0) {
    const known = Object.values(members).flatMap(Object.keys)
    throw new Problem('INVALID_REQUEST', `${name} takes no "${unknown[0]}"; give ${known.join(', ')}`)
  }
  const about = await runOfRequest(s, pathOf(http, parts.params), parts.query.run as string | undefined)
  const { by, options: who } = await callers.caller(asked.by as string | undefined, {
    ...{ right, operation: name, run: about, method: http.split(' ')[0]! },
  })
  if ('by' in members.body && by !== undefined) parts.body = { ...parts.body, by }
  const checked: Record<string, unknown> = {}
  for (const part of ['params', 'query', 'body'] as const)
    if (input[part] !== undefined) checked[part] = parsed(input[part], parts[part])
  if (awaitsTables) await s.read.caughtUp()
  const answered: unknown = await run(s, checked, { options: { ...options, ...who }, overNetwork: false })
  if (answered instanceof JsonPieces) return read(answered)
  return answered instanceof WithStatus ? answered.output : answered
}

/** The path of a request, as HTTP would have it. */
const pathOf = (http: string, params: Readonly<Record<string, unknown>>): string =>
  http
    .slice(http.indexOf(' ') + 1)
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name] ?? '')))

async function read({ pieces }: JsonPieces): Promise<unknown> {
  const parts: Buffer[] = []
  for (let next = await pieces.next(); !next.done; next = await pieces.next()) parts.push(Buffer.from(next.value))
  return JSON.parse(Buffer.concat(parts).toString())
}

/** Rows per page, the most that every list gives. */
const PAGE = 500

/** All rows of a list, read page by page on demand. An iteration that ends early reads no further page. */
export async function* rowsOf<N extends ListName>(
  calls: Calls,
  name: N,
  { limit = Number.POSITIVE_INFINITY, ...asked }: RowsAsked<N>,
): AsyncGenerator<RowOf<N>, void, undefined> {
  const read = calls[name] as (asked: object) => Promise<Readonly<Record<string, unknown>>>
  let left = limit
  for (let after: unknown; after !== null && left > 0; ) {
    const page = await read({ ...asked, limit: Math.min(PAGE, left), after })
    const rows = Object.values(page).find(Array.isArray) as RowOf<N>[]
    yield* rows
    left -= rows.length
    after = page.next
  }
}
