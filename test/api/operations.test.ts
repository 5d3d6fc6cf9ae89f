import { afterAll, describe, expect, it } from 'vitest'
import { RIGHTS } from '../../api/operations/operation.ts'
import { OPERATIONS } from '../../api/operations/table.ts'
import { bodyOf, openWorld } from './http-support.ts'

const world = await openWorld()
afterAll(() => world.close())

interface Described {
  readonly operationId: string
  readonly 'x-keepup-right'?: string
  readonly parameters?: readonly { readonly name: string }[]
  readonly requestBody?: object
}
type Document = { readonly paths: Record<string, Record<string, Described>> }

describe('the table of operations', () => {
  it('has each name and each endpoint once', () => {
    for (const of of ['name', 'http'] as const) {
      const all = OPERATIONS.map((one) => one[of])
      expect(all.length).toBeGreaterThanOrEqual(20)
      expect(new Set(all).size).toBe(all.length)
    }
  })

  it('stands in the OpenAPI document, each operation with its right', async () => {
    const { paths } = await bodyOf<Document>(await world.ask('GET', '/v1/openapi.json'))
    for (const { name, http, right } of OPERATIONS) {
      const [method, path] = http.split(' ') as [string, string]
      expect(paths[path]?.[method.toLowerCase()]).toMatchObject({ operationId: name, 'x-keepup-right': right })
      expect(RIGHTS).toContain(right)
    }
  })

  it('gives the parts of an input different names, so that they fit in one flat object', () => {
    for (const { name, input } of OPERATIONS) {
      const names = Object.entries(
        input as Record<string, { readonly shape?: object; readonly def?: { in?: { shape?: object } } }>,
      )
        .filter(([part]) => part !== 'headers')
        .flatMap(([, schema]) => Object.keys(schema.shape ?? schema.def?.in?.shape ?? {}))
      expect([name, names.length]).toEqual([name, new Set(names).size])
    }
  })
})
