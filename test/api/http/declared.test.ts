import { describe, expect, it } from 'vitest'
import { createApp } from '../../../api/http/app.ts'
import { declaredOf } from '../../../api/http/declared-guard.ts'

/** Services of which a route is made, and that none of the tests asks for anything. */
const unused: never = new Proxy(() => unused, { get: () => unused, apply: () => unused }) as never

interface Operation {
  readonly parameters?: readonly { readonly in: string; readonly name: string }[]
  readonly requestBody?: { readonly required?: boolean }
}

describe('what the routes declare', () => {
  const options = { token: () => '', hosts: [], maxBodyBytes: 1, heartbeatMs: 1, version: '1', onFault: () => {} }
  const app = createApp(unused, options)
  const { paths = {} } = app.getOpenAPI31Document({ openapi: '3.1.0', info: { title: 'keepup', version: '1' } })
  const operations = Object.entries(paths as Record<string, Record<string, Operation>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => [`${method.toUpperCase()} ${path}`, one] as const),
  )
  const declared = declaredOf(app.openAPIRegistry.definitions)

  it('is as much as the document has', () => {
    expect(declared.size).toBe(operations.length)
    expect(declared.size).toBeGreaterThan(70)
  })

  it('is refused when two routes have one method and path', () => {
    const { definitions } = app.openAPIRegistry
    const run = definitions.find((one) => one.type === 'route' && one.route.path === '/v1/runs/{id}')!
    expect(() => declaredOf([...definitions, run])).toThrow('two routes are called GET /v1/runs/:id')
  })

  it.each(operations)('is what the document says: %s', (route, { parameters = [], requestBody }) => {
    const names = (where: string) => parameters.filter((one) => one.in === where).map((one) => one.name)
    expect(declared.get(route.replaceAll(/\{(\w+)\}/g, ':$1'))).toMatchObject({
      query: names('query'),
      header: names('header'),
      wantsBody: requestBody?.required === true,
    })
  })
})
