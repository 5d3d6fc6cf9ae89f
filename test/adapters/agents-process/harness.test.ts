import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished, test } from 'vitest'
import { createCliBackend } from '../../../adapters/agents/process/cli-backend.ts'
import { processes } from '../../../adapters/sandbox/process-table.ts'
import { MARKER, reap } from '../../../adapters/sandbox/registry.ts'
import { checkRequest } from '../../../domain/external/request.ts'
import type { Mapped } from '../../../domain/ports/external.ts'
import { start as startProgram } from '../../support/child.ts'
import { puppetGateway, settled } from '../../support/external/in-process.ts'
import { DONE, heard, plainBackend, say } from '../../support/external/plain-agent.ts'
import { plainAgent } from '../../support/external/plain-agent-definition.ts'
import { freshFolders, tempFolder } from '../../support/folders.ts'
import { openFolder } from '../../support/programs/bubblewrap.ts'
import { playedTimers } from '../../support/time/played-timers.ts'

const seenIn = (folder: string) => JSON.parse(readFileSync(join(folder, 'seen.json'), 'utf8'))
const record = (folder: string) => ({ do: 'record', file: join(folder, 'seen.json') }) as const
const withMark = (mark: string) => processes().filter(({ environment }) => environment().includes(mark))

for (const namespace of [true, false])
  describe(namespace ? 'an agent in a process namespace' : 'an agent in a process group', {
    tags: namespace ? ['bubblewrap'] : [],
  }, () => {
    const options = { namespace }

    it('tells its events while it runs', async () => {
      const abort = new AbortController()
      const { backend } = plainBackend(() => [say('first'), { do: 'hang' }], options)
      const { run, texts } = heard(abort.signal)
      const end = backend.start({ prompt: 'go' }, run)
      end.catch(() => undefined)
      await expect.poll(() => texts).toEqual(['first'])
      abort.abort()
      await expect(end).rejects.toThrow('cancelled')
    })

    it('that never started to speak is cancelled', async () => {
      const abort = new AbortController()
      const { backend } = plainBackend(() => [{ do: 'hang' }], options)
      const end = backend.start({ prompt: 'go' }, heard(abort.signal).run)
      setImmediate(() => abort.abort())
      await expect(end).rejects.toThrow('cancelled')
    })

    it('is not started where its end was asked for before', async () => {
      const { backend, folder } = plainBackend((at) => [record(at)], options)
      await expect(backend.start({ prompt: 'go' }, heard(AbortSignal.abort()).run)).rejects.toThrow('cancelled')
      expect(existsSync(join(folder, 'seen.json'))).toBe(false)
    })

    it('gets a closed environment, a temporary folder of its own, and its folder', async () => {
      const env = { PATH: process.env.PATH, HOME: '/home/of-mine', PLAIN_KEY: 'key', OTHER_KEY: 'hidden', CI: '1' }
      const { backend, folder } = plainBackend((at) => [record(at), say('a'), DONE], { ...options, env })
      await backend.start({ prompt: 'the prompt', env: { ASKED: 'yes' } }, heard().run)
      const { env: seen, cwd, stdin, args } = seenIn(folder)
      expect(seen).toMatchObject({ PLAIN_KEY: 'key', ASKED: 'yes', HOME: '/home/of-mine' })
      expect(seen).not.toHaveProperty('OTHER_KEY')
      expect(seen).not.toHaveProperty('CI')
      expect(existsSync(seen.TMPDIR)).toBe(false)
      expect([cwd, stdin, args]).toEqual([folder, 'the prompt', ['--json']])
    })

    it('without a prompt on stdin reads its end at once', async () => {
      const { backend, folder } = plainBackend((at) => [record(at), DONE], options)
      await backend.start({ prompt: 'no stdin' }, heard().run)
      expect(seenIn(folder).stdin).toBe('')
    })

    it('that a signal ends tells so by its status', async () => {
      const { backend } = plainBackend(() => [{ do: 'die', signal: 'SIGKILL' }], options)
      const { status, success } = await backend.start({ prompt: 'go' }, heard().run)
      expect(status).toEqual({ code: null, signal: 'SIGKILL' })
      expect(success).toBe(false)
    })

    it('waits while its sink is not ready, and nothing is lost', async () => {
      const { backend } = plainBackend(() => [{ do: 'print', text: '{"say":"x"}', times: 20_000 }, DONE], options)
      const gate = Promise.withResolvers<void>()
      let count = 0
      const emit = ({ events = [] }: Mapped) => {
        count += events.length
        return count === 1 ? gate.promise : undefined
      }
      const end = backend.start({ prompt: 'go' }, { ...heard().run, emit })
      await expect.poll(() => count).toBe(1)
      expect(await settled(end)).toBe(false)
      expect(count).toBe(1)
      gate.resolve()
      await end
      expect(count).toBe(20_000)
    })

    it('is ended where its sink fails, and the failure is told', async () => {
      const { backend } = plainBackend(() => [say('a'), { do: 'hang' }], options)
      const emit = () => Promise.reject(new Error('the log is full'))
      await expect(backend.start({ prompt: 'go' }, { ...heard().run, emit })).rejects.toThrow('the log is full')
    })

    it('that closes its output and stays is awaited up to its time limit', async () => {
      const { backend } = plainBackend(() => [{ do: 'close-output' }, { do: 'hang' }], options)
      const end = backend.start({ prompt: 'go', timeoutMs: 300 }, heard().run)
      await expect(end).rejects.toThrow('timed out after 300 ms')
    })

    it('that is alive after SIGKILL has failed to terminate', async () => {
      const abort = new AbortController()
      const { backend } = plainBackend(() => [{ do: 'ignore-signals' }, say('up'), { do: 'hang' }], {
        ...options,
        graceMs: 5_000,
      })
      const { run, texts } = heard(abort.signal)
      const end = backend.start({ prompt: 'go' }, run)
      await expect.poll(() => texts).toEqual(['up'])
      // Both limits pass at once: the end by force has not been seen when patience ends.
      const pass = playedTimers()
      abort.abort()
      pass(10_000)
      await expect(end).rejects.toThrow(expect.objectContaining({ code: 'Backend', message: 'failed to terminate' }))
    })
  })

describe('what a request may set', () => {
  const { ws, base, remove } = freshFolders()
  const backend = () => plainBackend(() => [DONE], { workspace: ws, allowed: { env: ['A'], folders: [ws] } }).backend

  it('names and folders that are not allowed are refused before a start, and no value is repeated', () => {
    mkdirSync(join(ws, 'in'))
    expect(checkRequest({ prompt: 'go', env: { A: '1' }, workingDir: join(ws, 'in') }, backend())).toBeDefined()
    expect(() => checkRequest({ prompt: 'go', env: { B: 'v1', A: '' } }, backend())).toThrow(/^env: "B" may not be set/)
    for (const workingDir of [base, '/', join(ws, '..'), join(ws, 'none')])
      expect(() => checkRequest({ prompt: 'go', workingDir }, backend())).toThrow(/^workingDir: a folder lies outside/)
    remove()
  })

  it('never the mark by which processes are found', () => {
    const { backend: free } = plainBackend(() => [DONE])
    expect(() => checkRequest({ prompt: 'go', env: { [MARKER]: 'x' } }, free)).toThrow(/may not be set/)
  })
})

test('a working folder that does not exist is told through the handle', async () => {
  const { backend } = plainBackend(() => [DONE])
  const end = backend.start({ prompt: 'go', workingDir: '/none' }, heard().run)
  await expect(end).rejects.toThrow(
    expect.objectContaining({ code: 'Backend', message: expect.stringContaining('working folder does not exist') }),
  )
})

test('a confined agent changes its folder alone, and does not see what is hidden', {
  tags: ['bubblewrap'],
}, async () => {
  const [secret, other] = [tempFolder(), tempFolder()]
  writeFileSync(join(secret, 'token'), 'the-token')
  const { backend, folder, options } = plainBackend(() => [DONE])
  const script = `#!/bin/sh\ncat '${secret}/token' > seen; echo x > '${other}/written'; echo '{"done":true}'\n`
  writeFileSync(options.program!, script)
  const confined = createCliBackend(plainAgent, {
    ...options,
    confinement: async () => ({ writable: [], readable: [], hide: [secret] }),
  })
  expect((await confined.start({ prompt: 'go' }, heard().run)).success).toBe(true)
  expect(readFileSync(join(folder, 'seen'), 'utf8')).toBe('')
  expect(existsSync(join(other, 'written'))).toBe(false)
  expect((await backend.start({ prompt: 'go' }, heard().run)).success).toBe(true)
  expect(readFileSync(join(folder, 'seen'), 'utf8')).toBe('the-token')
})

test('a confined agent reaches the hidden parts of its own folders by no name', { tags: ['bubblewrap'] }, async () => {
  const [kept, outside] = [tempFolder(), tempFolder()]
  mkdirSync(join(kept, 'data'))
  writeFileSync(join(kept, 'data', 'token'), 'the-token')
  const link = join(outside, 'link')
  symlinkSync(kept, link)
  const { folder, options } = plainBackend(() => [DONE])
  const script = `#!/bin/sh\ncat '${kept}/data/token' '${link}/data/token' > seen; ls '${link}' >> seen; echo '{"done":true}'\n`
  writeFileSync(options.program!, script)
  const rules = { writable: [kept, link], readable: [], hide: [join(kept, 'data')] }
  const confined = createCliBackend(plainAgent, { ...options, confinement: async () => rules })
  expect((await confined.start({ prompt: 'go' }, heard().run)).success).toBe(true)
  expect(readFileSync(join(folder, 'seen'), 'utf8')).toBe('data\n')
})

test('a confined agent changes a folder anywhere on the machine that it is given, and moves no folder around a hidden one', {
  tags: ['bubblewrap'],
}, async () => {
  const further = openFolder()
  onTestFinished(() => rmSync(further, { recursive: true }))
  const { folder, options } = plainBackend(() => [DONE])
  const hide = [folder, further].map((around) => join(around, 'a/deep/data'))
  for (const data of hide) mkdirSync(data, { recursive: true })
  const moves = [folder, further].map((around) => `mv '${around}/a' '${around}/b'; echo x > '${around}/written'`)
  writeFileSync(options.program!, `#!/bin/sh\n${moves.join('\n')}\necho '{"done":true}'\n`)
  const rules = { writable: [further], readable: [], hide }
  const backend = createCliBackend(plainAgent, { ...options, confinement: async () => rules })
  expect(await backend.confinement!({ prompt: 'go' })).toEqual({ confined: true })
  expect((await backend.start({ prompt: 'go' }, heard().run)).success).toBe(true)
  expect([...hide, join(folder, 'written'), join(further, 'written')].filter((path) => !existsSync(path))).toEqual([])
})

test('an agent is not started where bubblewrap works and cannot show a folder that it is given', {
  tags: ['bubblewrap'],
}, async () => {
  const [given, bin] = [tempFolder(), tempFolder()]
  const bwrap = join(bin, 'bwrap')
  const failing = `case "$*" in *'${given}'*) echo 'no such mount' >&2; exit 1;; esac\nexec bwrap "$@"`
  writeFileSync(bwrap, `#!/bin/sh\nPATH=/usr/bin:/bin\n${failing}\n`, { mode: 0o755 })
  const rules = { writable: [given], readable: [], hide: [] }
  const { backend } = plainBackend(() => [DONE], { bwrap, confinement: async () => rules })
  expect(await backend.confinement!({ prompt: 'go' })).toEqual({ confined: true })
  await expect(backend.start({ prompt: 'go' }, heard().run)).rejects.toMatchObject({
    code: 'Backend',
    message:
      'the agent cannot be confined: no such mount; name other folders, or start the run unconfined (--no-sandbox)',
  })
})

test('without bubblewrap an agent cannot be confined, and the reason is told', async () => {
  const rules = { writable: [], readable: [], hide: [] }
  const { backend } = plainBackend(() => [DONE], { bwrap: '/none/bwrap', confinement: async () => rules })
  expect(await backend.confinement!({ prompt: 'go' })).toEqual({
    confined: false,
    reason: expect.stringMatching(/bubblewrap \(bwrap\) was not found/),
  })
})

test.each([
  ['the root of the machine', () => '/', /root of the machine/],
  ['a hidden folder', tempFolder, /lies in the hidden/],
])('an agent is not started in %s', { tags: ['bubblewrap'] }, async (_, folder, message) => {
  const workspace = folder()
  const rules = { writable: [], readable: [], hide: workspace === '/' ? [] : [workspace] }
  const { backend } = plainBackend(() => [DONE], { workspace, confinement: async () => rules })
  expect(await backend.confinement!({ prompt: 'go' })).toEqual({ confined: true })
  const start = backend.start({ prompt: 'go' }, heard().run)
  await expect(start).rejects.toMatchObject({ code: 'Backend', message: expect.stringMatching(message) })
})

/** A driver of its own that runs an agent and a grandchild, up to the moment when it is killed. */
async function killedDriver(namespace: boolean): Promise<{ data: string; mark: string }> {
  const data = tempFolder()
  const { options } = plainBackend((folder) => [
    { do: 'grandchild', pidFile: join(folder, 'pid') },
    say('up'),
    { do: 'hang' },
  ])
  const mark = `keepup-test-${dirname(options.program!)}`
  const child = startProgram(process.execPath, [
    join(import.meta.dirname, '../../support/external/driver.ts'),
    JSON.stringify({ ...options, namespace, dataFolder: data, driverId: 'd1' }),
    mark,
  ])
  for await (const line of child.lines) if (line === 'up') break
  expect(withMark(mark).length).toBeGreaterThanOrEqual(2)
  child.process.kill('SIGKILL')
  await child.ended
  return { data, mark }
}

test('what a driver that was killed left running is ended by its record', async () => {
  const { data, mark } = await killedDriver(false)
  expect(withMark(mark).length).toBeGreaterThanOrEqual(2)
  expect(reap(data)).toBeGreaterThanOrEqual(2)
  await expect.poll(() => withMark(mark)).toEqual([])
})

test('an agent in a process namespace ends with a driver that is killed', { tags: ['bubblewrap'] }, async () => {
  const { mark } = await killedDriver(true)
  await expect.poll(() => withMark(mark)).toEqual([])
})

test('a run through the gateway records what the process did', async () => {
  const { backend } = plainBackend(() => [say('one'), say('two'), DONE])
  const { gateway, log } = puppetGateway({ backends: [backend] })
  const run = await gateway.run('plain', { prompt: 'go' })
  const texts: string[] = []
  for await (const { text } of run.events) texts.push(text!)
  expect(texts).toEqual(['one', 'two'])
  expect(await run.completion).toEqual({ status: { code: 0, signal: null }, success: true, finalText: 'two' })
  expect(log.last.events.at(-1)).toMatchObject({ type: 'external_ended', body: { success: true } })
})
