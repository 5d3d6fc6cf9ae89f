import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openKeepUp } from '../../api/library/open-keepup.ts'
import { ConfigSchema } from '../../api/process/config/settings.ts'
import { openServices } from '../../api/process/open-services.ts'
import { inProcess } from '../api/support/cli.ts'
import { appOver, bodyOf } from '../api/support/http.ts'
import { Forger } from '../support/attacks/forger.ts'
import { type Told, tell } from '../support/attacks/story.ts'
import { attackable, openOf } from '../support/attacks/verification.ts'

// A program that can write the log's file removes a whole stream. The tables have seen it.

const root = mkdtempSync(join(tmpdir(), 'keepup-vanished-'))
let told: Told
let data = ''
beforeAll(async () => {
  told = await tell(root)
  data = openOf(told.data)
  const { events } = await attackable(told)
  const gone = new Set(Object.values(KINDS).map(({ stream }) => stream()))
  const forger = new Forger(data)
  forger.remove(events.filter(({ header }) => gone.has(header.stream)).map(({ position }) => position))
  forger.close()
}, 60_000)
afterAll(() => rmSync(root, { recursive: true, force: true }))

interface Kind {
  readonly stream: () => string
  readonly route: () => string
  readonly command: () => readonly string[]
}

const KINDS: Readonly<Record<string, Kind>> = {
  document: {
    stream: () => `document-${told.documentId}`,
    route: () => `/v1/documents/${told.documentId}/verify`,
    command: () => ['docs', 'verify', told.documentId],
  },
  memory: {
    stream: () => `memory-${told.memoryId}`,
    route: () => `/v1/memories/${told.memoryId}/verify`,
    command: () => ['memory', 'verify', told.memoryId],
  },
  store: {
    stream: () => 'context-review',
    route: () => '/v1/context-stores/review/verify',
    command: () => ['stores', 'verify', 'review'],
  },
  'external agent': {
    stream: () => `external-${told.external}`,
    route: () => `/v1/runs/${told.external}/verify`,
    command: () => ['verify', told.external],
  },
  run: {
    stream: () => `agent-${told.runs[1]}`,
    route: () => `/v1/runs/${told.runs[1]}/verify`,
    command: () => ['verify', told.runs[1]!],
  },
}

const LOST = /the log ends before revision \d+, which the tables have seen/

test.each(Object.entries(KINDS))('a vanished %s is named over HTTP', async (_, { stream, route }) => {
  const config = ConfigSchema.parse({ data })
  const services = (await openServices(config, 'reader', { autoDrive: false }, { tell: () => {} }))!
  try {
    const { ask } = appOver(services, 'scripted:x')
    for (const path of [route(), `/v1/streams/${stream()}/verify`]) {
      const response = await ask('GET', path)
      expect([path, response.status]).toEqual([path, 200])
      const found = await bodyOf<{ ok: boolean }>(response)
      expect(found.ok).toBe(false)
      expect(JSON.stringify(found)).toMatch(LOST)
    }
  } finally {
    await services.close()
  }
})

test.each(Object.entries(KINDS))('a vanished %s is named by the command line', async (_, { stream, command }) => {
  for (const args of [command(), ['streams', 'verify', stream()]]) {
    const { code, out, err } = await inProcess(['--data', data, ...args])
    expect({ args, code, out, err }).toMatchObject({ code: 5, out: expect.stringMatching(LOST) })
  }
})

test('what no table has seen is unknown', async () => {
  for (const args of [
    ['docs', 'verify', 'none'],
    ['memory', 'verify', 'none'],
    ['stores', 'verify', 'none'],
  ])
    expect((await inProcess(['--data', data, ...args])).code).not.toBe(5)
  expect((await inProcess(['--data', data, 'streams', 'verify', 'context-none'])).code).not.toBe(5)
})

test('the library names each vanished stream', async () => {
  const copy = join(root, 'copy')
  cpSync(data, copy, { recursive: true })
  await using keepup = await openKeepUp({ data: copy, by: 'ada' })
  const lost = { ok: false, events: 0, problems: [{ code: 'CHAIN', message: expect.stringMatching(LOST) }] }
  expect(await keepup.verifyDocument({ id: told.documentId })).toMatchObject({ ...lost, frontier: '', root: '' })
  expect(await keepup.verifyMemory({ id: told.memoryId })).toMatchObject(lost)
  expect(await keepup.verifyContextStore({ store: 'review' })).toMatchObject(lost)
  for (const id of [told.external, told.runs[1]!])
    expect(await keepup.verifyRun({ id })).toMatchObject({ ok: false, agents: [lost] })
  for (const { stream } of Object.values(KINDS))
    expect(await keepup.verifyStream({ stream: stream() })).toMatchObject(lost)
})
