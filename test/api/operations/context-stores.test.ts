import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { KeepUp } from '../../../api/library/keepup.ts'
import { openKeepUp } from '../../../api/library/open-keepup.ts'
import { verifyExport } from '../../../api/operations/events/verify-export.ts'
import type { Services } from '../../../api/operations/services.ts'
import { appOver, bodyOf } from '../support/http.ts'

let root: string
let data: string
let keepup: KeepUp
let services: Services
let app: ReturnType<typeof appOver>
const SECRET = 'correct-horse-battery-staple'

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'keepup-stores-')))
  data = join(root, 'data')
  mkdirSync(data, { mode: 0o700 })
  keepup = await openKeepUp({ data, by: 'ann' })
  services = keepup.services
  await services.vault.set('MY_KEY', SECRET)
  app = appOver(services, 'none', { maxBodyBytes: 65_536 })
})
afterAll(async () => {
  await keepup.close()
  rmSync(root, { recursive: true, force: true })
})

const get = async <T>(path: string) => bodyOf<T>(await app.ask('GET', `/v1/context-stores${path}`))
const lines = async function* (text: string) {
  yield* text.split('\n')
}

it('lists stores, their variables and each value', async () => {
  const notes = keepup.contextStore('notes')
  await notes.set('goal', 'Find security issues.')
  await notes.set('a/b?c', { key: SECRET })
  await notes.set('long', 'x'.repeat(200_000))
  await notes.set('gone', 1)
  await notes.delete('gone')
  await keepup.contextStore('audit').set('n', 7)

  expect(await get('')).toMatchObject({
    stores: [
      { store: 'audit', variables: 1, bytes: 1 },
      { store: 'notes', variables: 3, createdBy: 'user:ann', revision: 4 },
    ],
    next: null,
  })
  expect(await get('?limit=1')).toMatchObject({ stores: [{ store: 'audit' }], next: 'audit' })
  const shown = await get<{ variables: { key: string }[] }>('/notes?limit=2')
  expect(shown).toMatchObject({ store: { store: 'notes' }, next: 'goal' })
  expect(JSON.stringify(shown)).not.toContain('security')
  expect((await get<typeof shown>('/notes?deleted=true')).variables.map(({ key }) => key)).toEqual([
    ...['a/b?c', 'goal', 'gone', 'long'],
  ])
  const found = await app.ask('GET', '/v1/context-stores/notes/variable?key=goal')
  expect(found.headers.get('etag')).toBe('"0"')
  expect(await bodyOf(found)).toMatchObject({ value: 'Find security issues.', variable: { setBy: 'user:ann' } })
  const hidden = await get<{ value: { key: string } }>(`/notes/variable?key=${encodeURIComponent('a/b?c')}`)
  expect(hidden.value.key).toMatch(/^secret:ku_/)
  expect((await get<{ value: string }>('/notes/variable?key=long')).value).toHaveLength(200_000)
})

it('hides a value whose key says that it is a secret, and refuses a key that is one', async () => {
  const secrets = keepup.contextStore('secrets')
  await secrets.set('apiKey', 'a value of no shape')
  expect(await secrets.get('apiKey')).toMatch(/^secret:ku_/)
  await expect(secrets.set(SECRET, 1)).rejects.toMatchObject({ code: 'INVALID_VARIABLE' })
  await keepup.eraseContextVariables({ store: 'secrets', all: true, reason: 'done' })
})

it.each([
  ['/v1/context-stores/nothing', 404, 'STORE_UNKNOWN'],
  ['/v1/context-stores/nothing/variable?key=a', 404, 'STORE_UNKNOWN'],
  ['/v1/context-stores/nothing/verify', 404, 'STORE_UNKNOWN'],
  ['/v1/context-stores/nothing/export', 404, 'STORE_UNKNOWN'],
  ['/v1/context-stores/notes/variable?key=never', 404, 'VARIABLE_NOT_FOUND'],
  ['/v1/context-stores/notes/variable?key=gone', 404, 'VARIABLE_NOT_FOUND'],
  ['/v1/context-stores/NOTES', 400, 'INVALID_REQUEST'],
])('refuses %s with %i %s', async (path, status, code) => {
  const response = await app.ask('GET', path)
  expect(response.status).toBe(status)
  expect(await bodyOf(response)).toMatchObject({ code })
})

it('exports the sealed events of a store, which can be verified elsewhere', async () => {
  const text = await (await app.ask('GET', '/v1/context-stores/notes/export')).text()
  expect(await verifyExport(lines(text))).toMatchObject({ runId: 'context-notes', ok: true, events: 5 })
  const altered = text.replace(/"body":"\w{8}/, '"body":"AAAAAAAA')
  expect(await verifyExport(lines(altered))).toMatchObject({ ok: false })
})

it('erases every value of a variable for ever, and proves what is left', async () => {
  const notes = keepup.contextStore('notes')
  await notes.set('goal', 'Find more.')
  const erase = (body: object) => app.ask('POST', '/v1/context-stores/notes/erase', { body })
  expect((await erase({ reason: 'private' })).status).toBe(400)
  expect((await erase({ key: 'goal', all: true, reason: 'private' })).status).toBe(400)
  expect((await erase({ key: 'never', reason: 'private' })).status).toBe(404)
  const dry = await bodyOf<{ bodies: { revision: number }[] }>(
    await erase({ key: 'goal', reason: 'private', dryRun: true }),
  )
  expect(dry).toMatchObject({ recorded: false, bodies: [{ revision: 0 }, { revision: 5 }] })
  expect(await notes.get('goal')).toBe('Find more.')
  expect(await bodyOf(await erase({ key: 'goal', reason: 'private', by: 'bob' }))).toMatchObject({ recorded: true })
  expect(await bodyOf(await erase({ key: 'goal', reason: 'private' }))).toMatchObject({ recorded: false })
  await expect(notes.get('goal')).rejects.toThrow('the value of "goal" was erased')
  const gone = await app.ask('GET', '/v1/context-stores/notes/variable?key=goal')
  expect([gone.status, (await bodyOf<{ detail: string }>(gone)).detail]).toEqual([
    404,
    'the value of "goal" was erased; set it again',
  ])
  expect(await get('/notes/verify')).toMatchObject({
    ok: true,
    problems: [],
    erased: [
      { revision: 0, code: 'other', reason: 'private' },
      { revision: 5, code: 'other', reason: 'private' },
    ],
  })
  const text = await (await app.ask('GET', '/v1/context-stores/notes/export')).text()
  expect(await verifyExport(lines(text))).toMatchObject({ ok: true, erased: 2, erasedBy: { other: 2 } })
  expect(Buffer.from(text).toString()).not.toContain(Buffer.from('Find more.').toString('base64').slice(0, 12))
  expect(await services.read.rebuild()).toMatchObject({ equal: true })
  await notes.set('goal', 'again')
  expect(await notes.get('goal')).toBe('again')
})

it('is whole in the library, also for a value that lay in a blob', async () => {
  expect((await services.blobs.list('context-notes')).length).toBe(1)
  await expect(keepup.eraseContextVariables({ store: 'notes', reason: 'x' })).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
  })
  expect(await keepup.eraseContextVariables({ store: 'notes', all: true, reason: 'all of it' })).toMatchObject({
    recorded: true,
  })
  expect(await services.blobs.list('context-notes')).toEqual([])
  const variables = await Array.fromAsync(keepup.rows('getContextStore', { store: 'notes' }))
  expect(variables.map(({ key, erased }) => [key, erased])).toEqual([
    ['a/b?c', true],
    ['goal', true],
    ['long', true],
  ])
  expect((await Array.fromAsync(keepup.rows('listContextStores'))).map(({ store }) => store)).toEqual([
    'audit',
    'notes',
    'secrets',
  ])
  expect(await keepup.verifyContextStore({ store: 'notes' })).toMatchObject({ ok: true })
  expect(await keepup.verifyContextStore({ store: 'audit' })).toMatchObject({ ok: true, erased: [] })
})

it('is in a backup, whole', async () => {
  const folder = join(root, 'backup')
  await services.backup(folder)
  const copy = await openKeepUp({ data: folder, by: 'ann' })
  try {
    expect(await copy.contextStore('audit').get('n')).toBe(7)
    expect(await copy.verifyContextStore({ store: 'notes' })).toMatchObject({ ok: true })
    expect((await Array.fromAsync(copy.rows('listContextStores'))).length).toBe(3)
  } finally {
    await copy.close()
  }
})
