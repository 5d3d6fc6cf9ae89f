import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { AgentRuntime, ClaudeCodeProvider, type KeepUp, type ProviderError, RecursiveSpawner } from '../../api/index.ts'
import { externalStream, spawnedRunId } from '../../domain/log/ids.ts'
import { ends, FakeClaude, failsWith, INIT, line, says } from '../support/spawn/fake-claude.ts'

// Seed 004, LLM Provider Interface; CONTRACTS 14, Provider: `claude -p` over the harness, recorded in the log.

const CONFIG = { id: 'agent-001', prompt: 'Go.', model: 'claude-opus-4-6' }

async function opened(claude: FakeClaude, more: object = {}, retry: object = {}) {
  const keepup = await claude.open()
  const provider = new ClaudeCodeProvider({ keepup, workingDir: claude.work, ...more })
  const store = keepup.contextStore('audit')
  return { keepup, provider, store, runtime: new AgentRuntime({ provider, store, retry }) }
}
const code = async (run: Promise<unknown>) => {
  const error = (await run.then(
    () => null,
    (reason) => reason,
  )) as ProviderError
  return [error.code, error.message]
}

test('a run is one call of claude -p; result, cost, tokens, session and turns are told and recorded', async () => {
  const claude = new FakeClaude([])
  claude.plays([{ do: 'record', file: claude.seen }, INIT, says('I look.'), ends('All done')])
  const { keepup, runtime, store } = await opened(claude, { maxBudgetUsd: 2, permissionMode: 'plan' })
  const result = await runtime.run(runtime.create(CONFIG))
  expect(result).toEqual({
    ...{ agentId: 'agent-001', result: 'All done', iterations: 1, children: [], costUsd: 0.25 },
    ...{ sessionId: 's-1', numTurns: 3, tokenUsage: { inputTokens: 100, outputTokens: 20, totalTokens: 120 } },
  })
  expect(await store.get('agent-result-agent-001')).toBe('All done')
  const { args, stdin, cwd } = JSON.parse(readFileSync(claude.seen, 'utf8'))
  expect([stdin, cwd]).toEqual(['Go.', claude.work])
  expect(args.join(' ')).toMatch(/^-p --output-format stream-json --verbose --model claude-opus-4-6 /)
  expect(args.join(' ')).toContain('--permission-mode plan --max-budget-usd 2')
  const id = spawnedRunId('audit', 'agent-001', 1)
  expect(await keepup.run(id)).toMatchObject({
    runId: id,
    status: 'completed',
    backend: 'claude_code',
    ungoverned: true,
  })
  const { state } = (await keepup.externalRuns.recorded(id))!
  expect(state).toMatchObject({ request: { name: 'agent-001', prompt: 'Go.' }, sessionId: 's-1' })
  expect(await keepup.verifyRun({ id })).toMatchObject({ ok: true })
})

test('its errors: exited with code N, failed to parse, failed to spawn, timed out', async () => {
  const claude = new FakeClaude([INIT, ...failsWith(null, 'Not logged in')])
  const { provider } = await opened(claude)
  const run = (more: object = {}) => code(provider.execute({ prompt: 'Go.', model: 'm', ...more }))
  expect(await run()).toEqual(['EXITED', 'claude exited with code 1: Not logged in'])
  claude.plays([INIT, says('half')])
  const parse = await run()
  expect(parse[0]).toBe('PARSE_FAILED')
  expect(parse[1]).toContain('the output of claude failed to parse')
  claude.plays([INIT, { do: 'hang' }])
  expect(await run({ timeoutMs: 300 })).toEqual(['TIMED_OUT', 'claude timed out after 300 ms'])
  process.env.PATH = '/nowhere'
  const spawn = await run()
  expect(spawn[0]).toBe('SPAWN_FAILED')
  expect(spawn[1]).toMatch(/^claude failed to spawn: .*install it/)
})

test('an overloaded service, too many requests and a broken network are tried again; the program does not try by itself', async () => {
  const claude = new FakeClaude([])
  for (const [status, text] of [
    [529, 'API Error: Overloaded'],
    [429, 'API Error: Rate limited'],
    [null, 'API Error: Connection error. (ECONNREFUSED)'],
  ] as const) {
    claude.plays([{ do: 'record', file: claude.seen }, INIT, ...failsWith(status, text)])
    const { keepup, runtime } = await opened(claude, {}, { maxRetries: 1, backoffMs: 1 })
    const result = await runtime.run(runtime.create({ ...CONFIG, id: `a${status}` }))
    expect(result).toMatchObject({
      iterations: 2,
      result: { error: `claude exited with code 1: ${text}` },
      costUsd: 0.5,
    })
    expect(JSON.parse(readFileSync(claude.seen, 'utf8')).env.CLAUDE_CODE_MAX_RETRIES).toBe('0')
    await keepup.close()
  }
})

test('cancel ends the process, and a late result is nowhere', async () => {
  const claude = new FakeClaude([INIT, says('working'), { do: 'hang' }])
  const { keepup, runtime, store } = await opened(claude)
  const run = runtime.run(runtime.create(CONFIG))
  const id = spawnedRunId('audit', 'agent-001', 1)
  await expect.poll(() => keepup.externalRuns.at(id)).toBeDefined()
  await runtime.cancel('agent-001')
  expect(await run).toMatchObject({ result: '', iterations: 1 })
  expect(await keepup.run(id)).toMatchObject({ status: 'failed', machineState: 'ERROR' })
  expect(await store.list()).toEqual([])
})

test('an answer of more than a recorded final text is whole', async () => {
  const long = `${'ä'.repeat(60_000)} end`
  const claude = new FakeClaude([INIT, says('first'), says(long), ends(long)])
  const { provider } = await opened(claude)
  expect((await provider.execute({ prompt: 'Go.' })).result === long).toBe(true)
})

test('spawned agents are one tree in the lineage', async () => {
  const claude = new FakeClaude([INIT, ends('ok')])
  const { keepup, runtime } = await opened(claude)
  const spawner = new RecursiveSpawner({ runtime })
  await spawner.spawn({ ...CONFIG, id: 'lead' })
  const merged = await spawner.spawnAll(
    'lead',
    ['a', 'b'].map((id) => ({ ...CONFIG, id })),
  )
  expect(merged).toEqual({ result: 'ok\n\nok', missing: [] })
  const [lead, a, b] = ['lead', 'a', 'b'].map((id) => spawnedRunId('audit', id, 1))
  const { agents } = await keepup.getRunTree({ id: lead! })
  const rows = agents.map(({ agentId, parentId, depth }) => [agentId, parentId, depth])
  expect(rows.sort()).toEqual(
    [
      [lead, null, 0],
      [a, lead, 1],
      [b, lead, 1],
    ].sort() as never,
  )
  expect(await keepup.verifyRun({ id: lead! })).toMatchObject({ ok: true })
  expect(await keepup.run(lead!)).toMatchObject({ status: 'completed' })
  const stored = await Array.fromAsync(keepup.rows('getContextStore', { store: 'audit', prefix: 'agent-result-' }))
  expect(stored.map(({ runId }) => runId)).toEqual([lead, lead, lead])
})

test('secrets of prompt, variables and answers are in no event', async () => {
  const secret = `sk-ant-api03-${'k9Zt'.repeat(23)}AA`
  const claude = new FakeClaude([INIT, says(`it is ${secret}`), ends(`it is ${secret}`)])
  const { keepup, runtime, store } = await opened(claude)
  const contextRef = await store.set('login', { password: secret, note: secret })
  await runtime.run(runtime.create({ ...CONFIG, prompt: `Use ${secret}`, contextRef }))
  for (const stream of [externalStream(spawnedRunId('audit', 'agent-001', 1)), 'context-audit'])
    for await (const page of keepup.services.log.read(stream, {}))
      for (const { body } of page) expect(Buffer.from(body!).toString()).not.toContain('k9Zt')
  expect(JSON.stringify([await store.get('login'), await store.get('agent-result-agent-001')])).not.toContain('k9Zt')
})

/** A program that dies while its agent runs: the data folder is closed under it. */
async function crashed(claude: FakeClaude): Promise<void> {
  const first = await claude.open()
  const provider = new ClaudeCodeProvider({ keepup: first, workingDir: claude.work })
  const runtime = new AgentRuntime({ provider, store: first.contextStore('audit') })
  const run = runtime.run(runtime.create(CONFIG)).catch(() => undefined)
  await expect.poll(async () => (await sessionOf(first)) !== undefined).toBe(true)
  await first.close()
  await run
}
const sessionOf = async (keepup: KeepUp) =>
  (await keepup.externalRuns.recorded(spawnedRunId('audit', 'agent-001', 1)))?.state.sessionId ?? undefined

test('a run that was interrupted is never started again under its id; it goes on in its session, by name', async () => {
  const claude = new FakeClaude([INIT, says('working'), { do: 'hang' }])
  await crashed(claude)
  claude.plays([{ do: 'record', file: claude.seen }, INIT, ends('resumed')])
  const { runtime, store, keepup } = await opened(claude)
  const stored = await store.list('agent-result-')
  expect(stored).toEqual([])
  await expect(runtime.run(runtime.create(CONFIG))).rejects.toMatchObject({ code: 'DUPLICATE_AGENT' })
  const again = new AgentRuntime({ provider: new ClaudeCodeProvider({ keepup, workingDir: claude.work }), store })
  expect(await again.resume(CONFIG)).toMatchObject({ result: 'resumed', sessionId: 's-1' })
  const { args, stdin } = JSON.parse(readFileSync(claude.seen, 'utf8'))
  expect([args.join(' ').includes('--resume s-1'), stdin]).toEqual([
    true,
    'You were interrupted. Go on with your task and return the result.',
  ])
  expect(await store.get('agent-result-agent-001')).toBe('resumed')
})

test('a run that was interrupted is ended by name', async () => {
  const claude = new FakeClaude([INIT, { do: 'hang' }])
  await crashed(claude)
  const { runtime, store } = await opened(claude)
  expect(await runtime.end('agent-001')).toBe(true)
  expect(await store.get('agent-result-agent-001')).toEqual({ error: 'ended after a crash' })
  await expect(runtime.run(runtime.create(CONFIG))).rejects.toMatchObject({ code: 'DUPLICATE_AGENT' })
})

test('a run whose end was recorded, and whose result was not stored, is not run again', async () => {
  const claude = new FakeClaude([INIT, line({ type: 'other' }), ends('All done')])
  const { provider, runtime } = await opened(claude)
  const name = { store: 'audit', agentId: 'agent-001' }
  await provider.execute({ prompt: 'Go.', model: 'm', agentId: 'agent-001', name })
  claude.plays([{ do: 'exit', code: 9 }])
  expect(await runtime.resume(CONFIG)).toMatchObject({
    result: 'All done',
    costUsd: 0.25,
    numTurns: 3,
    sessionId: 's-1',
  })
})

test('a name that was never run cannot be resumed', async () => {
  const { runtime } = await opened(new FakeClaude([INIT]))
  await expect(runtime.resume(CONFIG)).rejects.toMatchObject({ code: 'NOT_RESUMABLE' })
})
