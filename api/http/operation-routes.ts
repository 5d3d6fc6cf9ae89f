import { createRoute, type RouteConfig, type z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { type AnswerStatus, type AnyOperation, JsonPieces, WithStatus } from '../operations/operation.ts'
import type { Services } from '../operations/services.ts'
import { requestOptions } from './access-guards.ts'
import { current } from './lag-headers.ts'
import { isOverNetwork } from './network.ts'
import { body, json, newApp, refusals } from './new-app.ts'
import { streamResponse } from './stream-response.ts'

type JsonAnswer<T extends z.ZodType> = ReturnType<typeof json<T>>
type JsonBody<T extends z.ZodType> = ReturnType<typeof body<T>>

type Method<H> = H extends `${infer M} ${string}` ? Lowercase<M> & RouteConfig['method'] : never
type Path<H> = H extends `${string} ${infer P}` ? P : never
type Request<P> = { [K in keyof P]: K extends 'body' ? (P[K] extends z.ZodType ? JsonBody<P[K]> : never) : P[K] }

/** The route of an operation in the form of the typed client. */
type RouteOf<Op extends AnyOperation> = {
  method: Method<Op['http']>
  path: Path<Op['http']>
  request: Request<Op['input']>
  responses: { [S in keyof Op['answers'] & AnswerStatus]: JsonAnswer<Op['output']> } & typeof refusals
}

/** The routes of operations: their descriptions, and handlers that read the request and write the answer. */
export function operationRoutes<const Ops extends readonly AnyOperation[]>(s: Services, operations: Ops) {
  type Routes = { readonly [I in keyof Ops]: { readonly route: RouteOf<Ops[I]>; readonly handler: unknown } }
  const routes = operations.map((one) => ({ route: routeOf(one), handler: handlerOf(one, s) }))
  return newApp().openapiRoutes(routes as never as Routes)
}

function routeOf({ name, http, summary, description, right, input, output, answers }: AnyOperation) {
  const [method, path] = http.split(' ') as [Uppercase<RouteConfig['method']>, string]
  const { body: bodySchema, ...parts } = input
  const texts = Object.entries(answers as Record<string, string>)
  return createRoute({
    method: method.toLowerCase() as RouteConfig['method'],
    path,
    operationId: name,
    summary,
    ...(description === undefined ? {} : { description }),
    ...(right === null ? { security: [] } : { 'x-keepup-right': right }),
    request: {
      ...parts,
      ...(bodySchema === undefined ? {} : { body: { ...body(bodySchema), required: !bodySchema.isOptional() } }),
    },
    responses: { ...Object.fromEntries(texts.map(([status, text]) => [status, json(output, text)])), ...refusals },
  })
}

function handlerOf(operation: AnyOperation, s: Services) {
  const { input, awaitsTables, revision, location, run } = operation
  return async (c: Context) => {
    if (awaitsTables) await current(c, s)
    const valid = c.req.valid as (target: string) => unknown
    const read = (part: string, target: string) =>
      input[part] === undefined ? {} : { [part]: valid.call(c.req, target) }
    const asked = { ...read('params', 'param'), ...read('query', 'query'), ...read('body', 'json') }
    const headers = input.headers === undefined ? {} : (valid.call(c.req, 'header') as object)
    const answered = await run(s, asked, {
      options: requestOptions(c, headers),
      overNetwork: isOverNetwork(c),
    })
    if (answered instanceof JsonPieces) return piecesOf(c, answered)
    const { status, output } = answered instanceof WithStatus ? answered : new WithStatus(200, answered)
    const at = revision?.(output)
    if (at !== undefined) c.header('ETag', `"${at}"`)
    const made = location?.(output)
    if (made !== undefined) c.header('Location', made)
    return c.json(output, status)
  }
}

/** The body of the context, so that the answer keeps the headers that were set before. */
function piecesOf(c: Context, { pieces }: JsonPieces) {
  const stream = streamResponse(pieces, { format: 'json' })
  return c.body(stream.body!, 200, Object.fromEntries(stream.headers))
}
