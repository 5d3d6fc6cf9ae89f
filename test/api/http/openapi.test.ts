import { afterAll, describe, expect, it } from 'vitest'
import { bodyOf, openWorld } from '../support/http.ts'

const world = await openWorld()
afterAll(() => world.close())
const { ask, http } = world

interface Document {
  openapi: string
  paths: Record<
    string,
    Record<string, { operationId?: string; summary?: string; responses: Record<string, object>; security?: object[] }>
  >
  components: { schemas: Record<string, object> }
}

/** Every `$ref` in a JSON value. */
function refs(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(refs)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([k, v]) => (k === '$ref' ? [String(v)] : refs(v)))
}

describe('the OpenAPI document', () => {
  it('lists every route that is served, and only those', async () => {
    const document = await bodyOf<Document>(await ask('GET', '/v1/openapi.json'))
    const listed = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((m) => `${m.toUpperCase()} ${path}`),
    )
    const served = http.routes
      .filter((r) => r.method !== 'ALL' && !/^\/v1\/(open|async)api\.json$/.test(r.path))
      .map((r) => `${r.method} ${r.path.replace(/:(\w+)/g, '{$1}')}`)
    expect(listed.sort()).toEqual([...new Set(served)].sort())
  })

  it('names every operation, each by a name of its own', async () => {
    const document = await bodyOf<Document>(await ask('GET', '/v1/openapi.json'))
    const names = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    )
    expect(names.filter((name) => !/^[a-z][A-Za-z]+$/.test(name ?? ''))).toEqual([])
    expect(new Set(names).size).toBe(names.length)
    expect(names).toContain('startRun')
  })

  it('is 3.1, refers only to what it holds, and says of each route what it answers', async () => {
    const document = await bodyOf<Document>(await ask('GET', '/v1/openapi.json'))
    expect(document.openapi).toBe('3.1.0')
    const names = Object.keys(document.components.schemas)
    for (const ref of refs(document)) {
      expect(ref).toMatch(/^#\/components\/schemas\//)
      expect(names).toContain(ref.split('/').at(-1))
    }
    for (const methods of Object.values(document.paths)) {
      for (const route of Object.values(methods)) {
        expect(route.summary).toBeTruthy()
        expect(Object.keys(route.responses)).toContain('default')
        expect(Object.keys(route.responses).some((status) => /^[23]/.test(status))).toBe(true)
      }
    }
    for (const path of ['/v1/health', '/v1/ready']) expect(document.paths[path]!.get!.security).toEqual([])
  })

  it('says that unknown keys are refused', async () => {
    const document = await bodyOf<Document>(await ask('GET', '/v1/openapi.json'))
    expect(document.components.schemas.StartRun).toMatchObject({ type: 'object', additionalProperties: false })
  })
})
