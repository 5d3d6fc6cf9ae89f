import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { createAcpBackend } from '../../../adapters/agents/acp/backend.ts'
import type { AskPermission } from '../../../adapters/agents/acp/permission.ts'
import { checkAdvertised, checkRequest } from '../../../domain/external/request.ts'
import type { AgentEventBody, BackendRun, Mapped, PermissionAsked } from '../../../domain/ports/external.ts'

const AGENT = join(import.meta.dirname, '../../support/external/acp-agent.ts')

const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'keepup-acp-')))
afterAll(() => rmSync(workspace, { recursive: true, force: true }))

/** A backend whose agent behaves so, with what a run of it told. */
function acp(behaviour: object, ask?: AskPermission) {
  const args = [AGENT, JSON.stringify(behaviour)]
  const backend = createAcpBackend(
    { program: process.execPath, args, ...(ask && { ask }) },
    { workspace, graceMs: 50, program: process.execPath },
  )
  const told: Mapped[] = []
  const events = (): AgentEventBody[] => told.flatMap((one) => one.events ?? [])
  const start = (request: object = {}, more: Partial<BackendRun> = {}) => {
    const run: BackendRun = {
      agentId: 'x1',
      signal: new AbortController().signal,
      emit: (mapped) => {
        told.push(mapped)
        return undefined
      },
      ...more,
    }
    return backend.start(checkRequest({ prompt: 'go', ...request }, backend), run)
  }
  return { backend, told, events, start }
}
const allow: AskPermission = async () => 'approved'
const short = (events: readonly AgentEventBody[]) =>
  events.map(({ kind, text, message }) => `${kind} ${text ?? message ?? ''}`.trim())
const code = (of: string) => expect.objectContaining({ name: 'AgentError', code: of })

describe.concurrent('an agent that speaks the Agent Client Protocol', () => {
  test('advertises what the protocol has', () => {
    expect(() => checkAdvertised(acp({}).backend)).not.toThrow()
  })

  test('a turn is mapped: text, a tool once at its start and once at its end, thoughts, usage and the final text', async () => {
    const { start, events, told } = acp({}, allow)
    expect(await start()).toEqual({ status: { code: 0, signal: null }, success: true, finalText: 'done: go' })
    expect(short(events())).toEqual([
      'Status session started',
      'TextOutput I look.',
      'ToolCall cat note',
      'Status permission granted',
      'ToolResult',
      'Status hm',
      'TextOutput done:',
      'TextOutput go',
      'Status done',
    ])
    expect(events().find(({ kind }) => kind === 'ToolResult')!.data).toEqual({
      id: 't1',
      success: true,
      output: 'chosen y',
    })
    expect(told.map(({ sessionId }) => sessionId).filter(Boolean)).toEqual([`new in ${workspace} with `])
    expect(told.map(({ usage }) => usage).filter(Boolean)).toEqual([
      {
        scope: 'run',
        inputTokens: 12,
        cachedInputTokens: null,
        outputTokens: 3,
        cost: { nanoDollars: 250_000_000, scope: 'session' },
      },
    ])
  })

  test('a permission is put to the callback with tool and input', async () => {
    const asked: PermissionAsked[] = []
    const { start, events } = acp({}, async (one) => {
      asked.push(one)
      return 'rejected'
    })
    await start()
    expect(asked).toMatchObject([{ title: 'cat note', input: { path: 'note' } }])
    expect(short(events())).toContain('Status permission rejected')
  })

  test('a tool without raw input is put with what the agent shows of it', async () => {
    const asked: PermissionAsked[] = []
    const { start, events } = acp({ shows: true }, async (one) => {
      asked.push(one)
      return 'approved'
    })
    await start()
    const diff = { type: 'diff', path: '/w/out', newText: 'x' }
    const input = { kind: 'edit', locations: [{ path: '/w/out' }], content: [diff] }
    expect(asked).toMatchObject([{ input }])
    expect(events().find(({ kind }) => kind === 'ToolCall')!.data).toMatchObject({ input })
  })

  test.each([
    ['is rejected where no person can be asked', {}, undefined, 'chosen n'],
    ['is rejected in a run that asks no questions', { 'agent_api.exec.non_interactive': true }, allow, 'chosen n'],
    ["is granted in the caller's sandbox", { 'agent_api.exec.external_sandbox.v1': true }, undefined, 'chosen y'],
    ['is not decided where the run ends first', {}, async () => null, 'chosen cancelled'],
  ] as const)('a permission %s', async (_, extensions, ask, output) => {
    const { start, events } = acp({}, ask)
    await start({ extensions })
    expect(events().find(({ kind }) => kind === 'ToolResult')!.data).toMatchObject({ output })
  })

  test('a session is resumed, and what was said before is no event of this run', async () => {
    for (const resumes of ['load', 'resume']) {
      const { start, events, told } = acp({ resumes })
      const resume = { 'agent_api.session.resume.v1': { selector: 'id', id: 's7' } }
      expect((await start({ extensions: resume })).success).toBe(true)
      expect(told.map(({ sessionId }) => sessionId).filter(Boolean)).toEqual(['s7'])
      expect(short(events())).not.toContain('TextOutput said before')
    }
  })

  test('what the agent does not have ends the run as UnsupportedCapability', async () => {
    const resume = { 'agent_api.session.resume.v1': { selector: 'id', id: 's7' } }
    const dirs = { 'agent_api.exec.add_dirs.v1': { dirs: ['/d'] } }
    await expect(acp({}).start({ extensions: resume })).rejects.toThrow(code('UnsupportedCapability'))
    await expect(acp({}).start({ extensions: dirs })).rejects.toThrow(code('UnsupportedCapability'))
    await expect(acp({ version: 2 }).start()).rejects.toThrow(code('UnsupportedCapability'))
    await expect(acp({ refuses: -32601 }).start()).rejects.toThrow(code('UnsupportedCapability'))
    const { start, told } = acp({ dirs: true })
    await start({ extensions: dirs })
    expect(told.some(({ sessionId }) => sessionId?.endsWith('with /d'))).toBe(true)
  })

  test('a refusal is told without its words', async () => {
    await expect(acp({ refuses: -32000 }).start()).rejects.toThrow('the agent is not logged in')
    const end = acp({ refuses: -32603 }).start()
    await expect(end).rejects.toThrow(/^the agent answered session\/new with error -32603$/)
  })

  test('only an answer that ends the turn is a success', async () => {
    const { start, events } = acp({ stop: 'refusal' })
    expect(await start()).toEqual({ status: { code: 0, signal: null }, success: false, finalText: null })
    expect(short(events()).at(-1)).toBe('Error the agent ended its turn with "refusal"')
  })

  test('an agent that dies in its turn is told by its exit status', async () => {
    expect(await acp({ diesIn: 'prompt' }).start()).toMatchObject({ status: { code: 9 }, success: false })
  })

  test('lines that are no messages or too long are dropped, and the turn goes on', async () => {
    const { start, events } = acp({ noise: true })
    expect((await start()).success).toBe(true)
    expect(short(events())).toContain('Unknown a line that is no JSON object')
    expect(short(events())).toContain('Error a line of over 1 MiB was dropped')
  })

  test('answers to no question and other sessions are no events of the run, and nothing of them is printed', async () => {
    const printed = vi.spyOn(console, 'error')
    const { start, events } = acp({ strays: 'stray-7781' })
    expect((await start()).success).toBe(true)
    expect(short(events()).filter((line) => line === 'Unknown a line that is no message of the protocol')).toHaveLength(
      2,
    )
    expect(JSON.stringify([events(), printed.mock.calls])).not.toContain('stray-7781')
  })

  test('an agent that stays after its answer is ended, and its work counts', async () => {
    expect(await acp({ stays: true }).start()).toEqual({
      status: { code: 0, signal: null },
      success: true,
      finalText: 'done: go',
    })
  })

  test('a cancel ends the agent while it waits for a permission', async () => {
    const abort = new AbortController()
    const { start } = acp({ stays: true }, () => {
      abort.abort()
      return new Promise(() => undefined)
    })
    await expect(start({}, { signal: abort.signal })).rejects.toThrow('cancelled')
  })

  test('while the sink is not ready the agent is not read', async () => {
    let [waiting, most, count] = [0, 0, 0]
    const { start } = acp({ chunks: 3_000 }, allow)
    const emit = async () => {
      count++
      waiting++
      most = Math.max(most, waiting)
      await new Promise((resolve) => setImmediate(resolve))
      waiting--
    }
    expect((await start({}, { emit })).success).toBe(true)
    expect(count).toBeGreaterThan(3_000)
    expect(most).toBeLessThan(20)
  })

  test('a session is resumed by its id only', () => {
    const { backend } = acp({})
    const asked = { prompt: 'go', extensions: { 'agent_api.session.resume.v1': { selector: 'last' } } }
    expect(() => checkRequest(asked, backend)).toThrow(code('InvalidRequest'))
  })
})
