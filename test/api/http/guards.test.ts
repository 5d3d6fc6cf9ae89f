import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { jsonFault } from '../../../domain/log/json-fault.ts'
import { appOver, bodyOf, openWorld, TOKEN } from '../support/http.ts'

const world = await openWorld()
afterAll(() => world.close())
const { ask, http } = world

const seed = process.env.FC_SEED === undefined ? {} : { seed: Number(process.env.FC_SEED) }

describe('who may ask', () => {
  it('wants the token on every route of the document but those of monitors, of other logs and of logins', async () => {
    const open: Readonly<Record<string, number>> = {
      'GET /v1/health': 200,
      'GET /v1/ready': 200,
      'POST /v1/witness/add-checkpoint': 400,
      'GET /v1/session': 200,
      'GET /v1/session/oidc': 302,
      'GET /v1/session/oidc/callback': 302,
    }
    const document = (await (await ask('GET', '/v1/openapi.json')).json()) as { paths: Record<string, object> }
    const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => [method.toUpperCase(), path] as const),
    )
    expect(routes.length).toBeGreaterThan(25)
    for (const [method, path] of [
      ...routes,
      ['GET', '/v1/openapi.json'],
      ['GET', '/v1/asyncapi.json'],
      ['GET', '/nowhere'],
    ] as const) {
      for (const authorization of [undefined, `Bearer ${TOKEN}x`, `Basic ${TOKEN}`, `Bearer ${TOKEN.slice(1)}`]) {
        const headers = authorization === undefined ? {} : { authorization }
        const response = await http.request(`http://localhost${path}`, { method, headers })
        expect([method, path, response.status]).toEqual([method, path, open[`${method} ${path}`] ?? 401])
      }
    }
  })

  it('refuses foreign host names and foreign pages', async () => {
    const status = async (headers: Record<string, string>) => (await ask('GET', '/v1/runs', { headers })).status
    expect(await status({ host: 'evil.example' })).toBe(403)
    expect(await status({ host: 'localhost.evil.example:7433' })).toBe(403)
    expect(await status({ host: 'localhost:7433' })).toBe(200)
    expect(await status({ host: '127.0.0.1:1' })).toBe(200)
    expect(await status({ host: '[::1]:7433' })).toBe(200)
    expect(await status({ host: 'KEEPUP.example' })).toBe(200)
    expect(await status({ origin: 'https://evil.example' })).toBe(403)
    expect(await status({ origin: 'null' })).toBe(403)
    expect(await status({ origin: 'http://localhost:7433' })).toBe(200)
  })

  it('sends no CORS headers', async () => {
    const response = await ask('GET', '/v1/runs', { headers: { origin: 'http://localhost:9' } })
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
  })
})

describe('bad requests', () => {
  const secret = 'sk-do-not-echo-me'

  it.each([
    ['unknown key', { task: 'finish', tsak: secret }, 'INVALID_REQUEST', 'unknown key "tsak"'],
    ['unknown key inside', { limits: { maxturns: 3 } }, 'INVALID_REQUEST', 'limits: unknown key "maxturns"'],
    [
      'setting one level too high',
      { mode: 'batch' },
      'INVALID_REQUEST',
      'unknown key "mode"; did you mean policy.mode?',
    ],
    ['wrong type', { task: 7 }, 'INVALID_REQUEST', 'task: '],
    ['wrong enum', { policy: { mode: secret } }, 'INVALID_REQUEST', 'policy.mode: '],
    ['blank task', { task: '   ' }, 'INVALID_REQUEST', 'task: '],
    ['no object', [secret], 'INVALID_REQUEST', 'the body: '],
  ])('names what is wrong and echoes nothing: %s', async (_, body, code, detail) => {
    const response = await ask('POST', '/v1/runs', { body })
    expect(response.status).toBe(400)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    const text = await response.text()
    expect(text).not.toContain(secret)
    const problem = JSON.parse(text) as { code: string; detail: string; type: string; status: number }
    expect(problem).toMatchObject({ code, status: 400, type: `urn:keepup:problem:${code}` })
    expect(problem.detail).toContain(detail)
  })

  it('repeats the beginning of huge names only, and not all of many', async () => {
    const huge = 'k'.repeat(500)
    const long = await bodyOf<{ detail: string }>(await ask('POST', '/v1/runs', { body: { [huge]: 1 } }))
    expect(long.detail).toContain(`"${'k'.repeat(64)}… (500 characters)"`)
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`k${i}`, 1]))
    const cut = await bodyOf<{ detail: string }>(await ask('POST', '/v1/runs', { body: many }))
    expect(cut.detail).toContain('"k4" and 295 more')
    const wrong = { testCommand: Array.from({ length: 500 }, () => 7) }
    const told = await bodyOf<{ errors: unknown[] }>(await ask('POST', '/v1/runs', { body: wrong }))
    expect([told.errors.length, told.errors.at(-1)]).toEqual([21, { in: 'body', path: '', message: 'and 480 more' }])
  })

  it('says where a body stops being JSON', async () => {
    const raw = `{"task": "x",\n "role" ${secret}}`
    const problem = await bodyOf(await ask('POST', '/v1/runs', { raw }))
    expect(problem).toMatchObject({ code: 'INVALID_JSON', status: 400 })
    expect(problem.detail).toContain('line 2, column 9')
    expect(JSON.stringify(problem)).not.toContain(secret)
  })

  it('names a key that stands twice in one object, however it is written', async () => {
    const detail = async (raw: string) =>
      (await bodyOf<{ detail: string }>(await ask('POST', '/v1/runs', { raw }))).detail
    for (const raw of ['{"task": "x", "task": "y"}', '{"task": "x", "t\\u0061sk": "y"}']) {
      expect(await detail(raw)).toContain('the key "task" a second time in one object at line 1, column 15')
    }
    expect(await detail('{"limits": {"a": [{"b": 1}, {"b": 2}],\n "a": 3}}')).toContain('"a" a second time')
    expect(jsonFault('[{"a": {"a": [{"a": 1}, {"a": 2}]}, "b": 1}, {"b": "a"}]')).toBeNull()
  })

  it.each([
    ['if-match', '/v1/runs', '"1"'],
    ['if-match', '/v1/runs/x/fork', '"1"'],
    ['idempotency-key', '/v1/runs/x/restore', 'k'],
  ])('name a header that the route would pass over: %s of %s', async (name, path, value) => {
    const response = await ask('POST', path, { body: {}, headers: { [name]: value } })
    const problem = await bodyOf<{ code: string; detail: string }>(response)
    expect([response.status, problem.code]).toEqual([400, 'INVALID_REQUEST'])
    expect(problem.detail).toContain(`header ${name}: header not supported here`)
  })

  it('refuses other media types, broken UTF-8, too much, and an absent body', async () => {
    const headers = { 'content-type': 'text/plain' }
    expect((await ask('POST', '/v1/runs', { raw: '{}', headers })).status).toBe(415)
    const broken = new Uint8Array([0x22, 0xff, 0x22])
    expect(await bodyOf(await ask('POST', '/v1/runs', { raw: broken }))).toMatchObject({ code: 'INVALID_JSON' })
    const large = await ask('POST', '/v1/runs', { body: { task: 'x'.repeat(5000) } })
    expect([large.status, (await bodyOf(large)).code]).toEqual([413, 'REQUEST_TOO_LARGE'])
    expect((await ask('POST', '/v1/runs/x/input')).status).toBe(400)
  })

  it('takes an absent body for {}, and refuses an empty one or one of another kind, on every route that wants one', async () => {
    type Operation = { requestBody?: { required?: boolean; content: object } }
    const document = (await (await ask('GET', '/v1/openapi.json')).json()) as { paths: Record<string, object> }
    const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods as Record<string, Operation>)
        .filter(([method, { requestBody }]) => method !== 'get' && requestBody?.required === true)
        .filter(([, { requestBody }]) => 'application/json' in requestBody!.content)
        .map(([method]) => [method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'x')] as const),
    )
    expect(routes.length).toBeGreaterThan(12)
    for (const [method, path] of routes) {
      for (const [sent, status] of [
        [{}, 400],
        [{ raw: '' }, 400],
        [{ headers: { 'content-type': 'application/json' } }, 400],
        [{ raw: 'null' }, 400],
        [{ raw: 'a=b', headers: { 'content-type': 'application/x-www-form-urlencoded' } }, 415],
        [{ raw: '{}', headers: { 'content-type': '' } }, 415],
      ] as const) {
        const response = await ask(method, path, sent)
        expect([method, path, sent, response.status]).toEqual([method, path, sent, status])
        expect(response.headers.get('content-type')).toBe('application/problem+json')
      }
    }
  })

  it.each([
    ['GET', '/v1/runs?stauts=failed', 'unknown query parameter "stauts"; known are limit, after, status, '],
    ['GET', '/v1/runs/x?limit=3', 'unknown query parameter "limit"; this route takes none'],
    ['GET', '/v1/runs/x/verify?deep=true', 'unknown query parameter "deep"'],
    ['POST', '/v1/projections/rebuild?fast', 'unknown query parameter "fast"'],
    ['GET', '/v1/runs?limit=many', 'query limit: expected a whole number'],
    ['GET', '/v1/runs?limit=', 'query limit: expected a whole number'],
    ['GET', '/v1/runs/x/state?step=', 'query step: expected a whole number'],
    ['GET', '/v1/runs/x/state?turn=0x1', 'query turn: expected a whole number'],
    ['GET', '/v1/events?type=turn_start,turn_strat', 'query type.1'],
  ])('name the query parameter that is wrong: %s %s', async (method, path, detail) => {
    const response = await ask(method, path)
    const problem = await bodyOf<{ code: string; detail: string }>(response)
    expect([response.status, problem.code]).toEqual([400, 'INVALID_REQUEST'])
    expect(problem.detail).toContain(detail)
  })

  it.each([
    ['/v1/runs', { task: 'x', workspace: 'project' }, 'workspace'],
    ['/v1/runs/x/fork', { workspace: './copy' }, 'workspace'],
    ['/v1/backup', { folder: '../copy' }, 'folder'],
  ])('refuse a relative folder with the reason: %s', async (path, body, where) => {
    const response = await ask('POST', path, { body })
    expect(response.status).toBe(400)
    expect((await bodyOf<{ detail: string }>(response)).detail).toContain(`${where}: expected an absolute path`)
  })

  it('say what is missing or empty in words', async () => {
    const detail = async (path: string, body: object) =>
      (await bodyOf<{ detail: string }>(await ask('POST', path, { body }))).detail
    expect(await detail('/v1/runs/x/input', {})).toBe('text: is missing; expected a text')
    expect(await detail('/v1/runs/x/erase', { revision: 1, reason: ' ' })).toBe('reason: may not be empty')
  })

  it('refuse a standing approval of a tool that there is not', async () => {
    const body = { task: 'x', model: world.model, approve: ['write_flie'] }
    const response = await ask('POST', '/v1/runs', { body })
    const problem = await bodyOf<{ code: string; detail: string }>(response)
    expect([response.status, problem.code]).toEqual([422, 'UNKNOWN_TOOL'])
    expect(problem.detail).toMatch(/there is no tool write_flie; there are .*write_file/)
  })

  it('tells a fault of its own without its message', async () => {
    const runs = async () => {
      throw new Error(secret)
    }
    const { ask, faults } = appOver({ ...world.services, read: { ...world.services.read, runs } }, world.model)
    const response = await ask('GET', '/v1/runs')
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain(secret)
    expect(faults).toHaveLength(1)
  })

  it('knows JSON exactly as the engine does', () => {
    const edit = fc.tuple(
      fc.json({ maxDepth: 4 }),
      fc.nat(),
      fc.nat(2),
      fc.constantFrom('', ',', '}', '"', ':', '0', '\\', ' ', '[', 'e'),
    )
    fc.assert(
      fc.property(edit, ([text, at, cut, put]) => {
        const place = at % (text.length + 1)
        const edited = text.slice(0, place) + put + text.slice(place + cut)
        let valid = true
        try {
          JSON.parse(edited)
        } catch {
          valid = false
        }
        const fault = jsonFault(edited)
        if (fault?.repeats === undefined) expect(fault === null).toBe(valid)
        else expect(edited.split(/[{,]\s*"/).length).toBeGreaterThan(2)
      }),
      { numRuns: 2000, ...seed },
    )
  })
})

it('a method that a path does not have is told with those that it has', async () => {
  const wrong = async (method: string, path: string) => {
    const answer = await world.ask(method, path)
    return [answer.status, (await bodyOf(answer)).code, answer.headers.get('allow')]
  }
  expect(await wrong('DELETE', '/v1/runs')).toEqual([405, 'METHOD_NOT_ALLOWED', 'POST, GET'])
  expect(await wrong('GET', '/v1/runs/x/fork')).toEqual([405, 'METHOD_NOT_ALLOWED', 'POST'])
  expect(await wrong('DELETE', '/v1/nothing')).toEqual([404, 'NOT_FOUND', null])
})
