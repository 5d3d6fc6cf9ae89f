import { afterAll, describe, expect, it } from 'vitest'
import { OVER_NETWORK } from '../../../api/http/network.ts'
import { sweepRetention } from '../../../api/operations/keeping/sweep.ts'
import { eraseRun } from '../../../api/operations/runs/erase-run.ts'
import { bodyOf, eventsIn, openWorld } from '../support/http.ts'

// Tags, notes and the search over HTTP, first with access off, then with access on.

const world = await openWorld({ maxBodyBytes: 100_000 })
afterAll(() => world.close())

const ask = async <T = Record<string, unknown>>(method: string, path: string, body?: object, headers = {}) => {
  const answer = await world.ask(method, path, { headers, ...(body === undefined ? {} : { body }) })
  return { status: answer.status, ...(await bodyOf<T & { code?: string; detail?: string }>(answer)) }
}
const tag = (run: string, tag: string) => ask('POST', `/v1/runs/${run}/tags`, { tag, by: 'ann' })
const note = (run: string, text: string) =>
  ask<{ revision: number }>('POST', `/v1/runs/${run}/notes`, { text, by: 'ann' })
const tagsOf = async (run: string) => (await ask<{ run: { tags: string[] } }>('GET', `/v1/runs/${run}`)).run.tags
const notesOf = async (run: string) =>
  (await ask<{ notes: { note: number; text: string; by: string; claimed: boolean }[] }>('GET', `/v1/runs/${run}/notes`))
    .notes
const listed = async (query: string) =>
  (await ask<{ runs: { runId: string }[] }>('GET', `/v1/runs?${query}`)).runs.map(({ runId }) => runId)

interface Match {
  runId: string
  stream: string
  revision: number
  kind: string
  toolCallId: string | null
  before: string
  match: string
  after: string
}
const search = async (text: string, more = '') =>
  (await ask<{ matches: Match[] }>('GET', `/v1/search?text=${encodeURIComponent(text)}${more}`)).matches
/** Whether a text is anywhere in the rows of the tables. */
const isInTables = async (text: string) => {
  await world.services.read.caughtUp()
  const count = async (table: 'run_texts' | 'run_notes') => {
    const { value } = await world.services.read.rows((db) => db.selectFrom(table).select('text').execute())
    return value.filter((row) => row.text.includes(text)).length
  }
  return (await count('run_texts')) + (await count('run_notes')) > 0
}

describe('tags', () => {
  it('are added and removed by people, and find runs', async () => {
    const [one, two] = [await world.driven('finish'), await world.driven('finish')]
    await tag(one, 'release')
    expect(await tag(one, ' release ')).toMatchObject({ status: 200, recorded: false })
    await tag(one, 'Überprüft')
    await tag(two, 'release')
    expect(await tagsOf(one)).toEqual(['release', 'Überprüft'])
    expect(await listed('tag=release')).toEqual([two, one])
    expect(await ask('GET', '/v1/tags')).toMatchObject({
      tags: [
        { tag: 'release', runs: 2 },
        { tag: 'Überprüft', runs: 1 },
      ],
    })
    await ask('POST', `/v1/runs/${two}/tags/remove`, { tag: 'release' })
    expect(await listed('tag=release')).toEqual([one])
    expect(await listed('text=RELEASE')).toContain(one)
  })

  it.each([
    ['no text', ' '],
    ['65 characters', 'x'.repeat(65)],
    ['two lines', 'a\nb'],
  ])('of %s are refused', async (_, text) => {
    const run = await world.started('finish', { drive: false })
    expect((await tag(run, text)).status).toBe(400)
  })

  it('of a run that waits record nothing in its stream and wake no driver', { tags: ['git'] }, async () => {
    const run = await world.driven('write it', { workspace: world.workspace() })
    const before = (await eventsIn(world.services, run)).length
    await tag(run, 'watch')
    await note(run, 'this one waits')
    expect((await eventsIn(world.services, run)).length).toBe(before)
    expect(world.services.drivers.state(run).driving).toBe(false)
    expect(await tagsOf(run)).toEqual(['watch'])
  })

  it('need a run that exists', async () => {
    expect((await tag('nothing', 'x')).status).toBe(404)
    expect((await note('nothing', 'x')).status).toBe(404)
    expect((await ask('GET', '/v1/runs/nothing/notes')).status).toBe(404)
  })

  it('are recorded once for a repeated request', async () => {
    const run = await world.driven('finish')
    const twice = () => ask('POST', `/v1/runs/${run}/notes`, { text: 'once' }, { 'idempotency-key': 'note-once' })
    const first = await twice()
    expect(await twice()).toMatchObject({ status: 200, revision: first.revision })
    expect(await notesOf(run)).toHaveLength(1)
  })
})

describe('notes', () => {
  it('name their author and are removed by their number', async () => {
    const run = await world.driven('finish')
    const { revision: first } = await note(run, 'the first\nof two lines')
    const { revision: second } = await note(run, 'the second')
    expect(await notesOf(run)).toMatchObject([
      { note: first, text: 'the first\nof two lines', by: 'user:ann', claimed: true },
      { note: second, text: 'the second' },
    ])
    expect((await ask('POST', `/v1/runs/${run}/notes/${first}/remove`, {})).status).toBe(200)
    expect((await notesOf(run)).map(({ text }) => text)).toEqual(['the second'])
    expect(await ask('POST', `/v1/runs/${run}/notes/${first}/remove`, {})).toMatchObject({
      ...{ status: 404, code: 'NOTE_UNKNOWN' },
    })
    expect((await note(run, 'x'.repeat(10_001))).status).toBe(400)
    expect((await note(run, 'x'.repeat(10_000))).status).toBe(200)
  })

  it('are erased with their text, from the log and from the tables, and the stream verifies', async () => {
    const run = await world.driven('finish')
    const { revision } = await note(run, 'Anna has called')
    expect(await listed('text=anna has')).toEqual([run])
    await ask('POST', `/v1/runs/${run}/notes/${revision}/remove`, { erase: true, reason: 'personal' })
    expect([await listed('text=anna has'), await isInTables('Anna has')]).toEqual([[], false])
    const stored: string[] = []
    for await (const page of world.services.log.read(`annotation-${run}`))
      for (const { body } of page) stored.push(Buffer.from(body ?? []).toString('latin1'))
    expect(stored.join()).not.toContain('Anna')
    expect(await ask('GET', `/v1/streams/annotation-${run}/verify`)).toMatchObject({ ok: true })
    await note(run, 'another')
    expect((await world.services.read.rebuild()).switched).toBe(true)
    expect((await notesOf(run)).map(({ text }) => text)).toEqual(['another'])
  })

  it('erase no tag by a number that is no note', async () => {
    const run = await world.driven('finish')
    const { revision } = (await tag(run, 'kept')) as unknown as { revision: number }
    for (const number of [revision, revision + 1]) {
      const answer = await ask('POST', `/v1/runs/${run}/notes/${number}/remove`, { erase: true })
      expect([answer.status, answer.code]).toEqual([404, 'NOTE_UNKNOWN'])
    }
    expect(await tagsOf(run)).toEqual(['kept'])
  })

  it('are erased with their run, unless a hold on the run keeps them', async () => {
    const run = await world.driven('finish')
    const { revision } = await note(run, 'Berta has called')
    await tag(run, 'berta')
    const { hold } = await ask<{ hold: string }>('POST', '/v1/holds', { of: run, reason: 'a matter' })
    const removed = () => ask('POST', `/v1/runs/${run}/notes/${revision}/remove`, { erase: true })
    expect(await removed()).toMatchObject({ status: 409, code: 'HELD' })
    expect(await notesOf(run)).toHaveLength(1)
    await ask('POST', `/v1/holds/${hold}/lift`, { reason: 'settled' })
    expect((await ask('POST', `/v1/runs/${run}/erase`, { all: true, reason: 'asked for' })).status).toBe(200)
    expect([await tagsOf(run), await notesOf(run), await isInTables('Berta')]).toEqual([[], [], false])
  })

  it('are erased by the retention of runs', async () => {
    const run = await world.driven('finish')
    await note(run, 'Carla has called')
    await ask('PUT', '/v1/retention', { of: 'run', days: 30 })
    const now = () => Date.now() + 31 * 86_400_000
    const later = { ...world.services, clock: { ...world.services.clock, now } }
    await world.services.read.caughtUp()
    await sweepRetention(later, { dryRun: false, limit: 100 })
    await ask('PUT', '/v1/retention', { of: 'run', days: null })
    expect([await notesOf(run), await isInTables('Carla')]).toEqual([[], false])
  })

  it('that were added after the retention of their run stay until they are old enough too, also when removed', async () => {
    const run = await world.driven('finish')
    await note(run, 'Dora has called')
    const swept = async (days: number) => {
      const now = () => Date.now() + days * 86_400_000
      await world.services.read.caughtUp()
      const later = { ...world.services, clock: { ...world.services.clock, now } }
      const { erased } = await sweepRetention(later, { dryRun: false, limit: 100 })
      return erased.filter(({ id }) => id === run).map(({ bodies }) => bodies)
    }
    await ask('PUT', '/v1/retention', { of: 'run', days: 30 })
    expect(await swept(31)).toHaveLength(2)
    const { revision } = await note(run, 'Dora has written')
    expect(await swept(29)).toEqual([])
    expect((await notesOf(run)).map(({ text }) => text)).toEqual(['Dora has written'])
    await ask('POST', `/v1/runs/${run}/notes/${revision}/remove`, {})
    expect(await swept(31)).toEqual([1])
    expect(await swept(31)).toEqual([])
    await ask('PUT', '/v1/retention', { of: 'run', days: null })
    const stored: string[] = []
    for await (const page of world.services.log.read(`annotation-${run}`))
      for (const { body } of page) stored.push(Buffer.from(body ?? []).toString('latin1'))
    expect(stored.join()).not.toContain('Dora')
  })

  it('refuse the erasure of their run before anything is erased if a hold keeps them, and are listed by a dry run', async () => {
    const run = await world.driven('finish')
    await note(run, 'Emma has called')
    await tag(run, 'emma')
    const erase = (more = {}) => ask('POST', `/v1/runs/${run}/erase`, { all: true, reason: 'asked for', ...more })
    const { hold } = await ask<{ hold: string }>('POST', '/v1/holds', { of: `annotation-${run}`, reason: 'a matter' })
    expect([(await erase()).code, (await erase({ dryRun: true })).code]).toEqual(['HELD', 'HELD'])
    expect((await eventsIn(world.services, run)).some(({ header }) => header.type === 'erased')).toBe(false)
    await ask('POST', `/v1/holds/${hold}/lift`, { reason: 'settled' })
    expect(await erase({ dryRun: true })).toMatchObject({ status: 200, annotations: 2 })
    const { services } = world
    const runtime = Object.create(services.runtime) as typeof services.runtime
    runtime.execute = () => Promise.reject(new Error('crash'))
    const what = { all: true, reason: 'asked for' } as const
    await expect(eraseRun({ ...services, runtime }, run, { what, by: 'ann', options: {} })).rejects.toThrow('crash')
    await services.read.caughtUp()
    expect([await tagsOf(run), await notesOf(run)]).toEqual([[], []])
    const again = () =>
      ask('POST', `/v1/runs/${run}/erase`, { all: true, reason: 'asked for' }, { 'idempotency-key': 'erase-emma' })
    expect([(await again()).status, (await again()).status]).toEqual([200, 200])
    expect(await erase({ dryRun: true })).toMatchObject({ status: 200, annotations: 0, bodies: [] })
  })

  it('refuse a reason without an erasure, and an erasure with the key of a removal', async () => {
    const run = await world.driven('finish')
    const { revision } = await note(run, 'Frieda has called')
    const remove = (body: object, key: string) =>
      ask('POST', `/v1/runs/${run}/notes/${revision}/remove`, body, { 'idempotency-key': key })
    expect((await remove({ reason: 'personal' }, 'k1')).status).toBe(400)
    expect((await remove({ code: 'legal' }, 'k2')).status).toBe(400)
    expect((await remove({}, 'k3')).status).toBe(200)
    expect((await remove({ erase: true }, 'k3')).code).toBe('IDEMPOTENCY_KEY_REUSED')
    const erased = await remove({ erase: true, reason: 'personal' }, 'k4')
    expect(erased).toMatchObject({ status: 200, recorded: true })
    expect(await remove({ erase: true, reason: 'personal' }, 'k4')).toMatchObject({ status: 200, recorded: false })
    expect((await remove({ erase: true, reason: 'other' }, 'k4')).code).toBe('IDEMPOTENCY_KEY_REUSED')
  })

  it('contain no value of a secret', async () => {
    await ask('PUT', '/v1/secrets/DEPLOY', { value: 'hunter2-and-more' })
    const run = await world.driven('finish')
    await note(run, 'the password is hunter2-and-more')
    expect(JSON.stringify(await notesOf(run))).not.toContain('hunter2')
  })
})

describe('the search', { tags: ['git'] }, () => {
  it('finds arguments, outputs and inputs, with their event, and shows what stands around', async () => {
    const run = await world.driven('both of them, Zebra first', {
      workspace: world.workspace(),
      approve: ['write_file'],
    })
    const [input] = await search('zebra')
    expect(input).toMatchObject({
      runId: run,
      kind: 'input',
      before: 'both of them, ',
      match: 'Zebra',
      after: ' first',
    })
    const found = [
      ...(await search('one.txt', `&run=${run}`)),
      ...(await search('single-step constraint', `&run=${run}`)),
    ]
    expect(new Set(found.map(({ kind }) => kind))).toEqual(new Set(['arguments', 'output']))
    const types = new Map((await eventsIn(world.services, run)).map(({ header }) => [header.revision, header.type]))
    for (const { stream, revision, kind, toolCallId } of found) {
      expect([stream, types.get(revision)]).toEqual([
        `agent-${run}`,
        kind === 'output' ? 'tool_call_end' : 'model_call_end',
      ])
      expect(toolCallId).toMatch(/\.t1\.c[012]$/)
    }
    const { runs, matches } = await ask<{ runs: { runId: string }[]; matches: Record<string, Match> }>(
      'GET',
      '/v1/runs?text=zebra',
    )
    expect([runs.map(({ runId }) => runId), matches[run]?.match]).toEqual([[run], expect.stringMatching(/zebra/i)])
    expect(await ask('GET', '/v1/search/files?text=ONE.')).toMatchObject({ files: [{ path: 'one.txt', runs: 1 }] })
  })

  it('goes on page by page, and finds each event once', async () => {
    const run = await world.driven('finish the walrus')
    const all = await search('walrus', `&run=${run}`)
    expect(all.length).toBeGreaterThan(1)
    const pages: Match[] = []
    for (let after = '', n = 0; n < 20; n++) {
      const page = await ask<{ matches: Match[]; next: string | null }>(
        'GET',
        `/v1/search?text=walrus&run=${run}&limit=1${after === '' ? '' : `&after=${encodeURIComponent(after)}`}`,
      )
      pages.push(...page.matches)
      if (page.next === null) break
      after = page.next
    }
    const places = (matches: readonly Match[]) => new Set(matches.map(({ revision }) => revision))
    expect(places(pages)).toEqual(places(all))
  })

  it('finds nothing that was erased, before and after a rebuild', async () => {
    const run = await world.driven('finish the giraffe')
    expect(await search('giraffe')).not.toEqual([])
    await ask('POST', `/v1/runs/${run}/erase`, { all: true, reason: 'asked for' })
    expect([await search('giraffe'), await isInTables('giraffe')]).toEqual([[], false])
    await world.services.read.rebuild()
    expect([await search('giraffe'), await listed('text=giraffe')]).toEqual([[], []])
  })

  it('contains no value of a secret', async () => {
    await ask('PUT', '/v1/secrets/OTHER', { value: 'correct-horse-battery' })
    await world.driven('finish with correct-horse-battery')
    expect([await search('correct-horse'), await isInTables('correct-horse')]).toEqual([[], false])
    expect(await search('finish with')).not.toEqual([])
  })
})

describe('with access on', () => {
  it('only operators change tags and notes, and who may not read texts finds none', async () => {
    const run = await world.driven('finish the ocelot')
    await tag(run, 'seen')
    const { key } = await ask<{ key: string }>('POST', '/v1/access', { principal: 'ann' })
    const keys = new Map([['ann', key]])
    const as = async <T = Record<string, unknown>>(who: string, method: string, path: string, body?: object) => {
      const headers = { authorization: `Bearer ${keys.get(who)}`, 'content-type': 'application/json' }
      const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
      const answer = await world.http.fetch(new Request(`http://localhost${path}`, init), OVER_NETWORK)
      return { status: answer.status, ...(await bodyOf<T>(answer)) }
    }
    for (const role of ['viewer', 'auditor', 'operator']) {
      await as('ann', 'POST', '/v1/access/principals', { principal: role, roles: [role] })
      keys.set(role, (await as<{ key: string }>('ann', 'POST', `/v1/access/principals/${role}/keys`, {})).key)
    }
    const status = async (who: string, method: string, path: string, body?: object) =>
      (await as(who, method, path, body)).status
    for (const who of ['viewer', 'auditor']) {
      expect(await status(who, 'POST', `/v1/runs/${run}/tags`, { tag: 'x' })).toBe(403)
      expect(await status(who, 'POST', `/v1/runs/${run}/notes`, { text: 'x' })).toBe(403)
    }
    expect(await status('operator', 'POST', `/v1/runs/${run}/tags`, { tag: 'x' })).toBe(200)
    const { revision } = await as<{ revision: number }>('operator', 'POST', `/v1/runs/${run}/notes`, { text: 'y' })
    const remove = `/v1/runs/${run}/notes/${revision}/remove`
    expect(await status('operator', 'POST', remove, { erase: true })).toBe(403)
    expect(await as('auditor', 'GET', `/v1/runs/${run}/notes`)).toMatchObject({
      notes: [{ text: 'y', by: 'user:operator' }],
    })
    expect(await status('operator', 'POST', remove, {})).toBe(200)
    for (const path of ['/v1/search?text=ocelot', '/v1/runs?text=ocelot', '/v1/runs?tag=seen', '/v1/tags'])
      expect([path, await status('viewer', 'GET', path)]).toEqual([path, 403])
    expect(await status('viewer', 'GET', `/v1/runs/${run}/notes`)).toBe(403)
    expect((await as<{ run: { tags: string[] } }>('viewer', 'GET', `/v1/runs/${run}`)).run.tags).toEqual([])
    expect((await as<{ matches: unknown[] }>('auditor', 'GET', '/v1/search?text=ocelot')).matches).not.toEqual([])
  })
})
