import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, type TestContext, test } from 'vitest'
import { createCliBackend } from '../../../adapters/agents/process/cli-backend.ts'
import { processes } from '../../../adapters/sandbox/process-table.ts'
import { AgentGateway } from '../../../domain/external/runtime/gateway.ts'
import type { AgentRunRequest, ExternalAgentEvent } from '../../../domain/ports/external.ts'
import { realClock } from '../../support/external/in-process.ts'
import { MemoryExternalLog } from '../../support/external/memory-log.ts'
import { tempFolder } from '../../support/folders.ts'
import { CACHE, CLIS, installed, type RealCli } from './clis.ts'
import { ANSWER, NOTE, prompt, REFUSAL, type Reply, standIn } from './stand-in.ts'

// The command lines of other makers as they are published, each against a model's API of ours on the loopback interface.
// They come from npm: a program that cannot be installed is named, and its tests are skipped.

/** A command line with a home folder, a workspace and a model of its own. */
async function place(cli: RealCli, { skip }: TestContext) {
  const found = await installed(cli)
  if ('missing' in found) return skip(found.missing)
  mkdirSync(CACHE, { recursive: true })
  // Below /tmp the sandbox of one of them hides its own program.
  const home = mkdtempSync(join(CACHE, 'home-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
  const workspace = realpathSync(tempFolder())
  const note = join(workspace, 'note.txt')
  writeFileSync(note, `${NOTE}\n`)
  const model = await standIn(cli.wire, note)
  onTestFinished(() => model.close())
  const log = new MemoryExternalLog()
  const env = { PATH: process.env.PATH, HOME: home, ...cli.prepare(home, model.url) }
  const backend = createCliBackend(cli.agent, { workspace, env, program: found.program })
  const gateway = new AgentGateway({ log, clock: realClock, backends: [backend] })
  const mark = randomUUID()
  const start = (reply: Reply, extensions: AgentRunRequest['extensions'] = {}) =>
    gateway.run(cli.agent.kind, {
      prompt: prompt(reply),
      env: { KEEPUP_TEST_MARK: mark, ...(cli.agent.kind === 'claude_code' && { CLAUDE_CODE_MAX_RETRIES: '0' }) },
      timeoutMs: 150_000,
      extensions: { 'agent_api.config.model.v1': cli.model, ...extensions },
    })
  return {
    model,
    log,
    start,
    left: () => processes().filter(({ environment }) => environment().includes(mark)),
    async run(...asked: Parameters<typeof start>) {
      const run = await start(...asked)
      const events: ExternalAgentEvent[] = []
      for await (const event of run.events) events.push(event)
      return { events, completion: await run.completion, state: log.last.state }
    },
  }
}

const said = (events: readonly ExternalAgentEvent[]) =>
  events.flatMap(({ kind, text }) => (kind === 'TextOutput' ? [text] : [])).join('')

describe.each(CLIS.map((cli) => [cli.agent.kind, cli] as const))('%s', { timeout: 300_000 }, (kind, cli) => {
  test('text: events, final text, session, usage', async (context) => {
    const { run, left } = await place(cli, context)
    const { events, completion, state } = await run('text')
    expect(completion).toEqual({ status: { code: 0, signal: null }, success: true, finalText: ANSWER })
    expect(said(events)).toBe(ANSWER)
    expect(events.filter(({ kind }) => kind === 'Error' || kind === 'Unknown')).toEqual([])
    expect(state.sessionId).toMatch(/\w{8}/)
    expect(state.usage).toMatchObject({ outputTokens: expect.any(Number) })
    expect(left()).toEqual([])
  })

  test('a tool: its call, its result, and the text after it', async (context) => {
    const { run } = await place(cli, context)
    const { events, completion } = await run('tool')
    expect(events.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['ToolCall', 'ToolResult', 'TextOutput']))
    const call = events.find(({ kind }) => kind === 'ToolCall')
    expect(JSON.stringify(call)).toContain(cli.tool)
    expect(JSON.stringify(call)).toContain('note.txt')
    const result = events.find(({ kind }) => kind === 'ToolResult')
    expect(result).toMatchObject({ data: { success: true } })
    if (cli.agent.capabilities.includes('agent_api.tools.results.v1')) expect(JSON.stringify(result)).toContain(NOTE)
    expect(completion).toMatchObject({ success: true, finalText: `${ANSWER}: ${NOTE}` })
  })

  test('an error of the model: no success, no final text, and an Error event', async (context) => {
    const { run } = await place(cli, context)
    const { events, completion } = await run('fail')
    expect([completion.success, completion.finalText]).toEqual([false, null])
    expect(completion.status.code).not.toBe(0)
    const errors = events.filter(({ kind }) => kind === 'Error')
    expect(errors.length).toBeGreaterThan(0)
    expect(JSON.stringify(errors)).toContain(REFUSAL)
  })

  test('cancel ends it and all that it started', async (context) => {
    const { start, model, left } = await place(cli, context)
    const run = await start('stall')
    await model.stalled
    expect(left().length).toBeGreaterThan(0)
    run.cancel('enough')
    await expect(run.completion).rejects.toMatchObject({ code: 'Backend', message: 'cancelled' })
    expect(left()).toEqual([])
  })

  test('a session that is resumed knows what was said', async (context) => {
    const { run, model } = await place(cli, context)
    const first = await run('text')
    const asked = model.got.length
    const id = first.state.sessionId!
    const { completion, state } = await run('tool', { 'agent_api.session.resume.v1': { selector: 'id', id } })
    expect(completion).toMatchObject({ success: true, finalText: `${ANSWER}: ${NOTE}` })
    expect(state.sessionId).toBe(id)
    expect(model.got.slice(asked).some(({ raw }) => raw.includes(prompt('text')) && raw.includes(ANSWER))).toBe(true)
    const unknown = '00000000-0000-4000-8000-000000000000'
    const lost = await run('text', {
      'agent_api.session.resume.v1': { selector: 'id', id: kind === 'opencode' ? 'ses_unknown' : unknown },
    })
    expect(lost.completion.success).toBe(false)
  })
})
