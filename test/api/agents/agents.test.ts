import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type KeepUpOptions, openKeepUp } from '../../../api/index.ts'
import { Agents } from '../../../api/operations/external/agents.ts'
import { systemRandom } from '../../../api/process/host/random.ts'
import { StreamExternalLog } from '../../../domain/external/runtime/stream-log.ts'
import { ENDED, Puppet } from '../../support/external/in-process.ts'
import { DONE, plainBackend, say } from '../../support/external/plain-agent.ts'
import { tempFolder } from '../../support/folders.ts'
import { standing } from '../../support/time/standing-clock.ts'

// CONTRACTS 13: every run of any backend is in the log, hence in lineage, usage and verification.

async function opened(options: Partial<KeepUpOptions> = {}) {
  const puppet = new Puppet()
  const data = options.data ?? tempFolder()
  const keepup = await openKeepUp({ data, ...options, agents: [puppet.backend] })
  onTestFinished(() => keepup.close())
  return { data, puppet, keepup }
}

const stored = async (keepup: Awaited<ReturnType<typeof openKeepUp>>) => {
  let text = ''
  for await (const page of keepup.services.log.readAll(null))
    for (const { header, body } of page) text += JSON.stringify(header) + Buffer.from(body ?? []).toString()
  return text
}

test('a run of another agent is listed, verified, and its secrets are in no event', async () => {
  const { keepup, puppet } = await opened()
  const secret = 'correct-horse-battery-staple'
  const run = await keepup.runAgent('fake', { prompt: `log in with ${secret}`, env: { LOGIN: secret } }, 'ann')
  await puppet.text('it is correct-horse', '-battery-staple, is it not')
  puppet.exit({ ...ENDED, finalText: `done with ${secret}` })
  const { finalText } = await run.completion
  expect(finalText).not.toContain(secret)
  let told = ''
  for await (const { text } of run.events) told += text ?? ''
  expect(told).toMatch(/^it is .*, is it not$/)
  expect(await stored(keepup)).not.toContain('battery')
  const proof = await keepup.verifyRun({ id: run.agentId })
  expect(proof).toMatchObject({ ok: true, agents: [{ agentId: run.agentId, ok: true }] })
  expect(proof.agents[0]!.events).toBeGreaterThan(4)
  expect(await keepup.run(run.agentId)).toMatchObject({ status: 'completed', backend: 'fake', ungoverned: true })
})

test('the handle names the run and the session; follow and the capabilities serve other agents too', async () => {
  const { keepup, puppet } = await opened()
  const run = await keepup.runAgent('fake', { prompt: 'go' })
  expect([run.runId, run.sessionId]).toEqual([run.agentId, null])
  const types: string[] = []
  const followed = (async () => {
    for await (const { type } of keepup.follow(run.runId)) types.push(type)
  })()
  await puppet.emit({ sessionId: 's-1' })
  await puppet.text('Hello.')
  puppet.exit()
  await run.completion
  await followed
  expect(run.sessionId).toBe('s-1')
  expect(types).toEqual(expect.arrayContaining(['external_started', 'session_known', 'agent_events']))
  expect(types.at(-1)).toBe('external_ended')
  const again: string[] = []
  for await (const { type } of keepup.follow(run.runId)) again.push(type)
  expect(again).toEqual(types)
  expect(keepup.agentCapabilities('fake')).toContain('agent_api.run')
  expect(keepup.agentCapabilities('keepup')).toContain('agent_api.config.model.v1')
  expect(() => keepup.agentCapabilities('none')).toThrow(/no such backend.*fake/)
  await expect(keepup.follow('none')[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

test.each(['fake', 'keepup'])(
  'a request of %s that is none is InvalidRequest, and names the key of a wrong value',
  async (kind) => {
    const { keepup } = await opened()
    const refusal = (request: unknown) => keepup.runAgent(kind, request as never).then(null, (error) => error)
    for (const request of [undefined, null, 'x', [], 7])
      expect(await refusal(request)).toMatchObject({ name: 'AgentError', code: 'InvalidRequest' })
    for (const [key, value] of Object.entries({ workingDir: 1, timeoutMs: 'soon', env: 1, extensions: 1 }))
      expect(await refusal({ prompt: 'x', [key]: value })).toMatchObject({
        code: 'InvalidRequest',
        message: expect.stringMatching(new RegExp(`^${key}: `)),
      })
    const wrong = await refusal({ prompt: 'x', env: { GOOD: 'a', WRONG: 2 } })
    expect(wrong).toMatchObject({ code: 'InvalidRequest', message: expect.stringMatching(/^env\.WRONG: /) })
  },
)

test('a text of a program is an event while the program works, and a secret that spans two texts is in no event', async () => {
  const secret = 'correct-horse-battery-staple'
  const { backend, folder } = plainBackend((at) => [
    say('Hello.'),
    { do: 'await-file', file: join(at, 'second') },
    say(`World. It is ${secret.slice(0, 12)}`),
    { do: 'await-file', file: join(at, 'third') },
    say(secret.slice(12)),
    say('Bye.'),
    DONE,
  ])
  const keepup = await openKeepUp({ data: tempFolder(), agents: [backend] })
  onTestFinished(() => keepup.close())
  const run = await keepup.runAgent('plain', { prompt: 'go', env: { LOGIN: secret } })
  const texts: (string | undefined)[] = []
  for await (const { text } of run.events) {
    texts.push(text)
    // The program goes on only once this was seen.
    if (texts.length === 1) writeFileSync(join(folder, 'second'), '')
    if (texts.length === 2) writeFileSync(join(folder, 'third'), '')
  }
  expect(texts).toEqual(['Hello.', 'World. It is ', expect.stringMatching(/^secret:ku_[0-9a-z]{26}$/), 'Bye.'])
  expect(await stored(keepup)).not.toMatch(/correct-|staple/)
})

test('closing cancels what is at work, and the log says so', async () => {
  const { keepup, puppet, data } = await opened()
  const run = await keepup.runAgent('fake', { prompt: 'go' })
  const ended = run.completion.catch((error: Error) => error.message)
  await puppet.text('working')
  await keepup.close()
  expect(await ended).toBe('cancelled')
  const next = await opened({ data })
  expect(await next.keepup.run(run.agentId)).toMatchObject({ status: 'failed', error: { code: 'CANCELLED' } })
})

test('a run whose process is gone is settled by the next owner of the data folder', async () => {
  const { keepup, data } = await opened()
  const { log, blobs, clock } = keepup.services
  // The start of a run as a program records it that is killed right after.
  const runs = new StreamExternalLog({ log, blobs, clock, random: systemRandom, build: 'test' })
  const { agentId } = await runs.begin({
    kind: 'start',
    backend: 'fake',
    request: { prompt: 'go' },
    capabilities: ['agent_api.run'],
  })
  await keepup.close()
  const next = await opened({ data })
  expect(await next.keepup.run(agentId)).toMatchObject({
    status: 'failed',
    error: { code: 'UNKNOWN_OUTCOME' },
  })
  expect(next.puppet.started).toBe(0)
})

test.each([undefined, null, 'go', { prompt: 'go', env: null }, { prompt: 'go', extensions: null }])(
  'a request that is %j is an InvalidRequest, and an unknown kind is told first',
  async (request) => {
    const { keepup } = await opened()
    await expect(keepup.runAgent('fake', request as never)).rejects.toMatchObject({ code: 'InvalidRequest' })
    await expect(keepup.runAgent('unknown', request as never)).rejects.toMatchObject({ code: 'UnknownBackend' })
    await expect(keepup.runAgent('keepup', request as never)).rejects.toMatchObject({ code: 'InvalidRequest' })
  },
)

test('a kind that no backend has is refused before anything is recorded', async () => {
  const { keepup } = await opened()
  const before = await stored(keepup)
  await expect(keepup.runAgent('unknown', { prompt: '' })).rejects.toMatchObject({ code: 'UnknownBackend' })
  expect(await stored(keepup)).toBe(before)
})

test('what a program says of itself is asked for once in ten seconds, also by requests that come at the same time', async () => {
  let now = 0
  const clock = { ...standing(), now: () => now }
  let asked = 0
  const inspect = async () => ({ installed: true, version: `1.0.${asked++}` })
  const backend = { ...new Puppet().backend, inspect }
  const agents = new Agents({ backends: [backend], clock } as never)
  const versions = async () => (await Promise.all([1, 2].map(() => agents.inspect('fake')))).map((one) => one?.version)
  expect(await versions()).toEqual(['1.0.0', '1.0.0'])
  now += 9_999
  expect(await versions()).toEqual(['1.0.0', '1.0.0'])
  now += 1
  expect(await versions()).toEqual(['1.0.1', '1.0.1'])
})

test('where the settings confine agents, they do not see what is of keepup', { tags: ['bubblewrap'] }, async () => {
  const root = process.cwd()
  const place = mkdtempSync(join(root, 'node_modules', '.keepup-test-'))
  onTestFinished(() => rmSync(place, { recursive: true, force: true }))
  const [data, workspace, kept] = ['data', 'work', 'kept'].map((name) => join(place, name)) as [string, string, string]
  for (const folder of [data, workspace, kept]) mkdirSync(folder, { mode: 0o700 })
  // In a folder that the sandbox shows, wherever the tests run.
  const program = join(kept, 'bin-agent')
  const script = `#!/bin/sh\nls '${data}' > seen; echo x > '${kept}/mine'; echo x > '${place}/not-mine'\n`
  writeFileSync(program, script, { mode: 0o755 })
  const acp = { other: { command: [program] } }
  writeFileSync(join(data, 'keepup.json'), JSON.stringify({ agents: { confinement: { writable: [kept] }, acp } }))
  const keepup = await openKeepUp({ data })
  onTestFinished(() => keepup.close())
  const run = await keepup.runAgent('other', { prompt: 'go', workingDir: workspace })
  await expect(run.completion).resolves.toMatchObject({ success: false })
  expect(readFileSync(join(workspace, 'seen'), 'utf8')).toBe('')
  expect([existsSync(join(kept, 'mine')), existsSync(join(place, 'not-mine'))]).toEqual([true, false])
})
