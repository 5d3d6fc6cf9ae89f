import type { OpenAPIHono } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { requestId } from 'hono/request-id'
import { asyncApi } from '../operations/asyncapi/document.ts'
import { asProblem, Problem } from '../operations/problem.ts'
import type { Services } from '../operations/services.ts'
import { ADDED_OPERATIONS, OPERATIONS } from '../operations/table.ts'
import { identityGuard, mustNameRights, rightGuard, stillAllowed } from './access-guards.ts'
import { agUiBodyLimit, agUiRoutes } from './ag-ui-routes.ts'
import { beginInTurns } from './begin-in-turns.ts'
import { bulkExportRoutes } from './bulk-export-routes.ts'
import { consumerRoutes } from './consumer-routes.ts'
import { declaredGuard, declaredOf, routesOf } from './declared-guard.ts'
import { deprecationHeader } from './deprecation-header.ts'
import { documentBodyLimit, documentRoutes, readsItsBody } from './document-routes.ts'
import { streamRoutes } from './event-stream-routes.ts'
import { exportRoutes } from './export-routes.ts'
import { hostGuard, jsonGuard, sizeGuard } from './guards.ts'
import { metricsRoutes } from './metrics-routes.ts'
import { newApp } from './new-app.ts'
import { operationRoutes } from './operation-routes.ts'
import { otlpBodyLimit, otlpRoutes } from './otlp-routes.ts'
import { packRoutes } from './packs.ts'
import { pageFiles } from './page/page-files.ts'
import { answerHeaders } from './page/page-headers.ts'
import { problemResponse } from './problem-response.ts'
import { type AnsweredRequest, recorded, requestIdOf } from './request-record.ts'
import { RequestTimes } from './request-times.ts'
import { resultRoutes } from './result-routes.ts'
import { EndedSessions } from './sessions/ended-sessions.ts'
import { loginRoutes } from './sessions/login-routes.ts'
import { sessionRoutes } from './sessions/session-routes.ts'
import { WebSessions } from './sessions/web-sessions.ts'
import { sqlRoutes } from './sql-routes.ts'
import type { HttpCode } from './status.ts'
import { witnessBodyLimit, witnessRoutes } from './witness-routes.ts'

export interface AppOptions {
  readonly token: () => string
  /** Accepted host names, in addition to the loopback names. */
  readonly hosts: readonly string[]
  readonly maxBodyBytes: number
  readonly heartbeatMs: number
  readonly version: string
  /** The file for sessions that people have ended. Absent: they are stored in memory. */
  readonly endedSessions?: string
  /** The address of this process for browsers. Absent or null: none. */
  readonly url?: () => string | null
  /** Called with an unexpected error. The client learns only that an error occurred. */
  readonly onFault: (error: unknown, path: string, requestId?: string) => void
  /** Called with each answered request. Absent: requests are not logged. */
  readonly onRequest?: (request: AnsweredRequest) => void
}

/** The body guard has already refused invalid JSON, so a route fails here only on a missing body. */
const emptyBody = (error: unknown): Problem<HttpCode> | null =>
  error instanceof HTTPException && error.status === 400
    ? new Problem<HttpCode>('INVALID_JSON', 'the body is missing; send a JSON object')
    : null

/** The methods of a path, in capitals. Empty: the path does not exist. */
function methodsAt({ paths = {} }: { readonly paths?: object }, path: string): string[] {
  const parts = path.split('/')
  const matches = (template: string) => {
    const wanted = template.split('/')
    return wanted.length === parts.length && wanted.every((part, i) => part.startsWith('{') || part === parts[i])
  }
  const found = Object.entries(paths).filter(([template]) => matches(template))
  return [...new Set(found.flatMap(([, methods]) => Object.keys(methods as object)))].map((name) => name.toUpperCase())
}

const aboutOf = (version: string) => ({
  openapi: '3.1.0',
  info: { title: 'keepup', version },
  security: [{ token: [] }],
})

/** OpenAPI documents by version. All apps have the same routes, and a document takes about 30 ms to generate. */
const documents = new Map<string, ReturnType<ReturnType<typeof newApp>['getOpenAPI31Document']>>()

/** Cancels the body of an answer to HEAD. An event stream would otherwise never end. */
const withoutBody: MiddlewareHandler = async (c, next) => {
  await next()
  if (c.req.method === 'HEAD') await c.res.body?.cancel()
}

type PlainApp = ReturnType<typeof newApp>
type EnvOf<T> = T extends OpenAPIHono<infer E, infer _, infer __> ? E : never
/**
 * The routes of an app. The result of `route` names those of both apps too, but the compiler then compares all routes with
 * each other for each added app, which takes longer than checking the rest of the program.
 */
type SchemaOf<T> = T extends OpenAPIHono<infer _, infer S, infer __> ? S : never

/** The maximum size of bodies on a path, bytes. Null: the configured maximum applies. */
export const bodyLimit = (path: string): number | null =>
  agUiBodyLimit(path) ?? witnessBodyLimit(path) ?? otlpBodyLimit(path) ?? documentBodyLimit(path)

/** The HTTP app, for TCP, for the owner's socket, and for in-process calls by the CLI. */
export function createApp(s: Services, options: AppOptions) {
  const root = newApp()
  root.onError((error, c) => {
    const problem = asProblem(error) ?? emptyBody(error)
    if (problem)
      return problemResponse(problem, problem.code === 'UNAUTHORIZED' ? { 'www-authenticate': 'Bearer' } : {})
    const requestId = requestIdOf(c)
    options.onFault(error, c.req.path, requestId)
    const where = `the log of the server says more beside the request's id, ${requestId}`
    return problemResponse(new Problem<HttpCode>('INTERNAL', `this should not have happened; ${where}`))
  })
  root.notFound((c) => {
    const detail = `there is no ${c.req.method} route here; see /v1/openapi.json`
    const allow = methodsAt(document(), c.req.path)
    if (allow.length === 0) return problemResponse(new Problem('NOT_FOUND', detail))
    return problemResponse(new Problem<HttpCode>('METHOD_NOT_ALLOWED', detail), { allow: allow.join(', ') })
  })
  const ended = new EndedSessions(options.endedSessions ?? null, s.clock.now())
  const sessions = new WebSessions({ ended, token: options.token, random: s.random, clock: s.clock })
  const find = routesOf(() => root.openAPIRegistry.definitions)
  const times = new RequestTimes()
  root.use(
    requestId(),
    ...(options.onRequest ? [recorded(find, options.onRequest)] : []),
    times.measured(find),
    beginInTurns(),
    hostGuard(options.hosts),
    withoutBody,
    answerHeaders,
    pageFiles(),
    identityGuard(s, options.token, sessions),
    rightGuard(s, find),
    sizeGuard(options.maxBodyBytes, bodyLimit),
    stillAllowed(find),
    jsonGuard((path) => readsItsBody(path) || (witnessBodyLimit(path) ?? otlpBodyLimit(path)) !== null),
  )
  root.use(declaredGuard(find), deprecationHeader(find))
  root.openAPIRegistry.registerComponent('securitySchemes', 'token', { type: 'http', scheme: 'bearer' })
  root.openAPIRegistry.registerComponent('securitySchemes', 'code', { type: 'http', scheme: 'keepup-code' })
  const add = <T extends object>(routes: T): T => {
    root.route('/', routes as unknown as PlainApp)
    return routes
  }
  const parts = [
    add(operationRoutes(s, OPERATIONS)),
    add(streamRoutes(s, options.heartbeatMs)),
    add(agUiRoutes(s, options.heartbeatMs)),
    add(consumerRoutes(s, options.heartbeatMs)),
    add(documentRoutes(s)),
    add(exportRoutes(s)),
    add(bulkExportRoutes(s)),
    add(packRoutes(s)),
    add(metricsRoutes(s, times)),
    add(otlpRoutes(s)),
    add(resultRoutes(s)),
    add(sqlRoutes(s)),
    add(witnessRoutes(s)),
    add(loginRoutes(s, sessions, options)),
    add(sessionRoutes(s, sessions, options.url ?? (() => null))),
  ] as const
  // Operations of added kinds have no types in the client.
  root.route('/', operationRoutes(s, ADDED_OPERATIONS))
  mustNameRights(declaredOf(root.openAPIRegistry.definitions).values())
  const document = () => {
    const made = documents.get(options.version) ?? root.getOpenAPI31Document(aboutOf(options.version))
    documents.set(options.version, made)
    return made
  }
  root.get('/v1/openapi.json', (c) => c.json(document()))
  root.get('/v1/asyncapi.json', (c) => c.json(asyncApi(options.version)))
  return root as unknown as OpenAPIHono<EnvOf<PlainApp>, SchemaOf<(typeof parts)[number]>, '/'>
}

export type App = ReturnType<typeof createApp>
