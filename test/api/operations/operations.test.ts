import { afterAll, describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../../api/operations/table.ts'
import { RIGHTS } from '../../../domain/access/rights.ts'
import { bodyOf, openWorld } from '../support/http.ts'

const world = await openWorld()
afterAll(() => world.close())

interface Described {
  readonly operationId: string
  readonly 'x-keepup-right'?: string
  readonly parameters?: readonly { readonly name: string }[]
  readonly requestBody?: object
}
type Document = { readonly paths: Record<string, Record<string, Described>> }

/** The described operations by method and path. */
async function operationsOf(): Promise<ReadonlyMap<string, Described>> {
  const { paths } = await bodyOf<Document>(await world.ask('GET', '/v1/openapi.json'))
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, one]) => [`${method.toUpperCase()} ${path}`, one] as const),
    ),
  )
}

describe('the table of operations', () => {
  it('has each name and each endpoint once', () => {
    for (const of of ['name', 'http'] as const) {
      const all = OPERATIONS.map((one) => one[of])
      expect(all.length).toBeGreaterThanOrEqual(80)
      expect(new Set(all).size).toBe(all.length)
    }
  })

  it('stands in the OpenAPI document, each operation with its right', async () => {
    const described = await operationsOf()
    for (const { name, http, right } of OPERATIONS) {
      expect(described.get(http)).toMatchObject({ operationId: name })
      expect(described.get(http)?.['x-keepup-right'] ?? null).toBe(right)
    }
  })

  it('has every operation but those that answer with streams or bytes, and the sessions of the page', async () => {
    const inTable = new Set<string>(OPERATIONS.map(({ name }) => name))
    const names = [...(await operationsOf()).values()].map(({ operationId }) => operationId)
    expect(names.filter((name) => !inTable.has(name)).sort()).toEqual([
      ...[
        'addCheckpoint',
        'askSql',
        'beginLogin',
        'beginSession',
        'completeLogin',
        'consumeEvents',
        'endSession',
        'exportContextStore',
        'exportEvents',
        'exportRun',
        'exportStream',
        'exportTables',
        'getCosignedCheckpoint',
        'getDocument',
        'getMetrics',
        'getSessionCode',
        'getSignIn',
        'getToolResult',
      ],
      ...[
        'makeSessionCode',
        'reportSpans',
        'runAgUi',
        'sendEnvelope',
        'sendPresence',
        'sendUpdate',
        'streamEvents',
        'streamRunNews',
        'streamUpdates',
        'writePack',
      ],
    ])
  })

  it('leaves no operation without a right but those that make up for a token, and those that need none', async () => {
    const described = [...(await operationsOf()).values()]
    const rights = described.map((one) => one['x-keepup-right'])
    expect(rights.filter((right) => right !== undefined && !(RIGHTS as readonly string[]).includes(right))).toEqual([])
    const open = described.filter((one) => one['x-keepup-right'] === undefined).map(({ operationId }) => operationId)
    const witness = ['addCheckpoint', 'getCosignedCheckpoint']
    const login = ['beginLogin', 'completeLogin', 'getSignIn']
    expect(open.sort()).toEqual(
      [...witness, ...login, 'beginSession', 'getHealth', 'getReadiness', 'getSessionCode'].sort(),
    )
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
