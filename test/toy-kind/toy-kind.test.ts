import { execFile } from 'node:child_process'
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { verifyExport } from '../../api/operations/events/verify-export.ts'
import type { Ran } from './keepup.ts'

// A kind of stream is its own files and one line in each registry. Everything else works for it at once.

const ROOT = join(import.meta.dirname, '../..')

/** Runs command lines of keepup with the toy kind, each on its data folder, in one process. */
async function keepup(
  ...lines: readonly (readonly [data: string, line: readonly string[]])[]
): Promise<readonly Ran[]> {
  const args = lines.map(([data, line]) => ['--data', data, '-o', 'json', ...line])
  const program = join(import.meta.dirname, 'keepup.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify(args)], { cwd: ROOT })
  return JSON.parse(stdout)
}

const STORY = {
  open: ['call', 'openTicket', 'id=t1', 'title=The till rounds'],
  comment: ['call', 'commentTicket', 'id=t1', 'text=seen twice'],
  openAnother: ['call', 'openTicket', 'id=t2', 'title=Slow'],
  reopen: ['call', 'openTicket', 'id=t1', 'title=again'],
  eraseOpen: ['streams', 'erase', 'ticket-t1', '--reason', 'asked to', '--yes'],
  close: ['call', 'closeTicket', 'id=t1'],
  commentClosed: ['call', 'commentTicket', 'id=t1', 'text=late'],
  unknown: ['call', 'getTicket', 'id=t9'],
  get: ['call', 'getTicket', 'id=t1'],
  list: ['call', 'listTickets'],
  listAfter: ['call', 'listTickets', 'after=t1'],
  streams: ['streams', 'list', '--prefix', 'ticket-'],
  verify: ['streams', 'verify', 'ticket-t1'],
  export: ['streams', 'export', 'ticket-t1'],
  sql: ['sql', 'select id, title from tickets order by id'],
  verifyAll: ['verify'],
  rebuild: ['rebuild'],
  erase: ['streams', 'erase', 'ticket-t1', '--reason', 'asked to', '--yes'],
  getErased: ['call', 'getTicket', 'id=t1'],
  verifyErased: ['streams', 'verify', 'ticket-t1'],
  rebuildErased: ['rebuild'],
} as const
const ran = {} as Record<keyof typeof STORY, Ran>
const said = <T>(of: keyof typeof STORY): T => JSON.parse(ran[of].out)

const folder = mkdtempSync(join(tmpdir(), 'keepup-toy-'))
/** The data folder of a stream that is not ended. */
const open = join(folder, 'open')
afterAll(() => rmSync(folder, { recursive: true }))

beforeAll(async () => {
  const data = join(folder, 'whole')
  const all = await keepup([open, STORY.open], ...Object.values(STORY).map((line) => [data, line] as const))
  Object.keys(STORY).forEach((name, i) => {
    ran[name as keyof typeof STORY] = all[i + 1]!
  })
}, 240_000)

test('a new kind takes at most 8 files and 200 lines, and no other file names it', () => {
  const own = readdirSync(join(import.meta.dirname, 'ticket')).map((name) => join(import.meta.dirname, 'ticket', name))
  const lines = own.flatMap((path) => readFileSync(path, 'utf8').trimEnd().split('\n'))
  expect(own.length).toBeLessThanOrEqual(8)
  expect(lines.length).toBeLessThanOrEqual(200)
  const product = globSync(['{domain,projections,adapters,api}/**/*.ts'], { cwd: ROOT })
  expect(product.length).toBeGreaterThan(1_000)
  const naming = product.filter((path) =>
    /\bticket(?:-|_|s\b|Rows|Tables)/i.test(readFileSync(join(ROOT, path), 'utf8')),
  )
  expect(naming).toEqual([])
})

test('its operations record events, and its table shows them', () => {
  for (const name of ['open', 'comment', 'openAnother', 'close'] as const)
    expect(ran[name], name).toMatchObject({ code: 0 })
  expect(said('comment')).toEqual({ id: 't1', revision: 1, recorded: true })
  expect(said('get')).toMatchObject({ id: 't1', title: 'The till rounds', comments: 1, revision: 2 })
  expect(said('list')).toMatchObject({
    tickets: [
      { id: 't1', closed_at: expect.any(String) },
      { id: 't2', closed_at: null },
    ],
  })
  expect(said('listAfter')).toMatchObject({ tickets: [{ id: 't2' }] })
  expect(ran.sql.out).toContain('The till rounds')
})

test('its refusals reach the caller with their code and a remedy', () => {
  expect([ran.reopen.code === 0, ran.reopen.err]).toEqual([false, expect.stringContaining('TICKET_EXISTS')])
  expect(ran.commentClosed.err).toContain('the ticket is closed; open another one')
  expect(ran.unknown.err).toContain('TICKET_UNKNOWN')
})

test('its streams are listed, verified and exported', async () => {
  expect(said('streams')).toEqual([
    { stream: 'ticket-t1', revision: 2, runId: 'ticket-t1' },
    { stream: 'ticket-t2', revision: 0, runId: 'ticket-t2' },
  ])
  expect(said('verify')).toMatchObject({ ok: true, events: 3, digests: 3, unchecked: 0 })
  expect(ran.verifyAll.out).toMatch(/"ticket": 2/)
  expect(ran.verifyAll.code).toBe(0)
  async function* lines() {
    yield* ran.export.out.split('\n')
  }
  expect(await verifyExport(lines())).toMatchObject({ ok: true, events: 3, runId: 'ticket-t1' })
})

test('an ended stream loses its texts in log and table, and nothing else', () => {
  expect(ran.eraseOpen.code).not.toBe(0)
  expect(ran.eraseOpen.err).toContain('RUN_ACTIVE')
  expect(ran.erase.code).toBe(0)
  expect(said('getErased')).toMatchObject({ title: null, comments: 1, closed_at: expect.any(String) })
  expect(said('verifyErased')).toMatchObject({ ok: true, erased: [{ revision: 0 }, { revision: 1 }] })
})

test('a rebuild gives the same rows, before an erasure and after it', () => {
  for (const name of ['rebuild', 'rebuildErased'] as const)
    expect([ran[name].code, said(name)], name).toEqual([
      0,
      expect.objectContaining({ switched: true, differences: [] }),
    ])
})

test('without the kind, its streams stay readable and are proved by their chain', async () => {
  const { inProcess } = await import('../api/support/cli.ts')
  const { code, out } = await inProcess(['--data', open, '-o', 'json', 'streams', 'verify', 'ticket-t1'])
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ ok: true, events: 1, digests: 0 })
})
