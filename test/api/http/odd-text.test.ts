import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { bodyOf, openWorld } from '../support/http.ts'

const world = await openWorld({ maxBodyBytes: 20_000 })
afterAll(() => world.close())
const { ask, faults, model } = world

interface Parameter {
  readonly in: string
  readonly name: string
  readonly required?: boolean
  readonly schema: { readonly type: string; readonly enum?: unknown }
}
type Document = { paths: Record<string, Record<string, { parameters?: Parameter[] }>> }

/** Cursors, checkpoints and keys are not looked up: they are parsed, and refused in their own words. */
const READ = ['after', 'type', 'checkpoint', 'vkey']

/** Bodies of routes whose body is read before their path. */
const BODIES = [
  ['/replies', { text: 'x' }],
  ['/refuse', { reason: 'x' }],
] as const

const requiredIn = (parameters: readonly Parameter[]) =>
  parameters.filter((one) => one.in === 'query' && one.required === true).map(({ name }) => name)

it('no id with control characters is looked up, on any route of the document', async () => {
  const { paths } = await bodyOf<Document>(await ask('GET', '/v1/openapi.json'))
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { parameters = [] }]) =>
      parameters
        .filter(({ schema, name }) => schema.type === 'string' && schema.enum === undefined && !READ.includes(name))
        .map((parameter) => ({ path, method: method.toUpperCase(), needs: requiredIn(parameters), ...parameter })),
    ),
  )
  const ids = all.filter((parameter) => parameter.in !== 'header')
  expect(ids.length).toBeGreaterThan(30)
  for (const { path, method, name, needs, in: place } of ids)
    for (const odd of ['%00', 'a%00b', 'a%0a', '%1b%5b']) {
      const filled = path.replace(/\{(\w+)\}/g, (_, part: string) => (part === name ? odd : '1'))
      const query = {
        ...Object.fromEntries(needs.map((other) => [other, '1'])),
        ...(place === 'query' ? { [name]: odd } : {}),
      }
      const to = `${filled}?${Object.entries(query)
        .map(([key, value]) => `${key}=${value}`)
        .join('&')}`
      const body = BODIES.find(([end]) => path.endsWith(end))?.[1] ?? {}
      const answer = await ask(method, to, method === 'GET' || method === 'DELETE' ? {} : { body })
      // The end of a login answers a browser, and repeats nothing of the request.
      if (path === '/v1/session/oidc/callback') {
        expect([to, answer.status, answer.headers.get('location')]).toEqual([to, 302, '/#refused=not_configured'])
        continue
      }
      const { code, errors } = await bodyOf<{ code: string; errors: { in: string; path: string }[] }>(answer)
      // A document id of any form that names no document is 404.
      if (path.startsWith('/v1/documents/{id}') && name === 'id') {
        expect([method, to, answer.status, code]).toEqual([method, to, 404, 'DOCUMENT_UNKNOWN'])
        continue
      }
      expect([method, to, answer.status, code]).toEqual([method, to, 400, 'INVALID_REQUEST'])
      const faults = new Set(errors.map((error) => `${error.in} ${error.path}`))
      expect(faults).toEqual(new Set([`${place === 'query' ? 'query' : 'path'} ${name}`]))
    }
  for (const body of [{ runId: 'a\0' }, { stream: 'a\0' }])
    expect((await ask('POST', '/v1/projections/release', { body })).status).toBe(400)
})

it('times that no clock can count are refused before anything is recorded', async () => {
  const id = await world.started('finish', { drive: false })
  for (const ms of [8_640_000_001, Number.MAX_SAFE_INTEGER]) {
    for (const time of [{ limits: { wallClockMs: ms } }, { recovery: { graceTimeoutMs: ms } }]) {
      const answer = await ask('POST', '/v1/runs', { body: { task: 'finish', model, ...time } })
      expect([answer.status, (await bodyOf(answer)).detail]).toEqual([
        400,
        expect.stringMatching(/^(?:limits|recovery)\.\w+Ms: /),
      ])
    }
    expect((await ask('POST', `/v1/runs/${id}/cancel`, { body: { deadlineMs: ms } })).status).toBe(400)
  }
})

it('what can be no folder is refused, wherever a folder is named', { tags: ['git'] }, async () => {
  const id = await world.driven('finish', { workspace: world.workspace() })
  const file = join(world.root, 'file')
  writeFileSync(file, '')
  const asking = [
    ['/v1/backup', 'folder'],
    [`/v1/runs/${id}/fork`, 'workspace'],
  ] as const
  for (const [path, key] of asking) {
    for (const folder of [file, join(file, 'below'), `/${'d/'.repeat(3000)}`, `/${'d'.repeat(300)}`]) {
      const { status, ...answer } = await bodyOf<{ status: number; code: string }>(
        await ask('POST', path, { body: { [key]: folder } }),
      )
      expect([path, folder.slice(0, 99), status, answer.code]).toEqual([
        path,
        folder.slice(0, 99),
        422,
        'FOLDER_UNUSABLE',
      ])
    }
    expect((await ask('POST', path, { body: { [key]: '/a\0' } })).status).toBe(400)
  }
  expect(faults).toEqual([])
})

it('text that is half a character is mended wherever it stands, as in a task', async () => {
  const half = '\ud800'
  const odd = {
    task: `finish ${half}`,
    instructions: half,
    recovery: { warningTemplate: half },
    policy: { secretPatterns: [`a${half}{7}`] },
    contextVariables: { [half]: half },
    testCommand: ['npm', half],
  }
  const answer = await ask('POST', '/v1/runs', { body: { model, drive: false, ...odd } })
  const { runId, code } = await bodyOf<{ runId: string; code?: string }>(answer)
  expect([answer.status, code]).toEqual([201, undefined])
  const at = await bodyOf<{ spec: { recovery: object } }>(await ask('GET', `/v1/runs/${runId}/state`))
  expect(at.spec).toMatchObject({ instructions: '\ufffd', recovery: { warningTemplate: '\ufffd' } })
  expect((await ask('POST', `/v1/runs/${runId}/fork`, { body: { model: half } })).status).toBeLessThan(500)
  expect(faults).toEqual([])
})
