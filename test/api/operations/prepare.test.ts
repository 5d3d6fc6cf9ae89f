import { describe, expect, it } from 'vitest'
import { createStarts, type PrepareServices } from '../../../api/operations/runs/prepare-start.ts'
import { StartRun } from '../../../api/operations/runs/start-schemas.ts'
import { ModelError } from '../../../domain/calls/errors.ts'
import type { ToolSpec } from '../../../domain/calls/tools/tool-spec.ts'
import { AgentSpec, type ModelInfo } from '../../../domain/tree/spec.ts'

const tool = (name: string, more: Partial<ToolSpec> = {}): ToolSpec => ({
  name,
  description: name,
  parameters: {},
  effect: 'pure',
  paths: {},
  barrier: false,
  control: false,
  timeLimitMs: 1000,
  ...more,
})

const model = (id: string): ModelInfo => ({
  id,
  provider: 'scripted',
  contextTokens: 1000,
  maxOutputTokens: 100,
  timeoutMs: 1000,
  price: null,
  forcesCalls: true,
})

const role = {
  name: 'Coder',
  profile: '',
  goal: '',
  phases: [{ name: 'do', allowedTools: ['read_file'] }],
  qualityGates: [],
  maxReactLoop: 15,
}

const reference = `secret:ku_${'0'.repeat(26)}`

const doors = (more: Partial<PrepareServices> = {}): PrepareServices => ({
  roles: async () => ({
    roles: [{ name: 'coder', file: null, definition: role, model: null, wallClockMs: null }],
    faults: ['roles/release.json: name: is missing'],
  }),
  model,
  defaultModel: 'm',
  safeDefaultModel: null,
  tools: async () => ({
    specs: [
      tool('read_file', { paths: { path: 'read' } }),
      tool('run_command', { barrier: true, paths: { cwd: 'list' } }),
      tool('remember'),
      tool('complete_task', { control: 'completes' }),
    ],
    faults: ['MCP server "tracker" cannot be reached: it is down'],
  }),
  workspace: async (path) => ({ path: `/real${path}`, tree: 't0', testCommand: ['npm', 'test'] }),
  sandboxFault: async () => null,
  secret: async (name) => {
    if (name !== 'KNOWN') throw new Error(`no value for ${name}`)
    return { name, reference }
  },
  sandboxed: true,
  retry: {},
  context: {},
  knowledge: async () => [],
  delegation: null,
  build: 'b',
  ...more,
})

const prepare = (asked: object, more: Partial<PrepareServices> = {}) =>
  createStarts(doors(more)).prepare(StartRun.parse(asked))

describe('preparing a run', () => {
  it('resolves every default, as the log will hold it', async () => {
    const spec = await prepare({ task: 'x', workspace: '/w' })
    expect(AgentSpec.parse(spec)).toEqual(spec)
    expect(spec).toMatchObject({
      limits: { maxTurns: 25, wallClockMs: null },
      recovery: { graceTurns: 2, graceTimeoutMs: 60_000 },
      policy: { mode: 'interactive', sandboxed: true },
      models: { requested: 'm', safeDefault: 'm' },
      workspace: { path: '/real/w', tree: 't0' },
      testCommand: ['npm', 'test'],
    })
  })

  it('leaves settings as they are where a request names only others of their kind', async () => {
    const settings = { sandboxed: false, retry: { maxRetries: 9, backoffCapMs: 60_000 } }
    const spec = await prepare({ policy: { mode: 'batch' }, retry: { backoffMs: 5 } }, settings)
    expect(spec.policy).toMatchObject({ mode: 'batch', sandboxed: false, allowedTools: ['*'] })
    expect(spec.retry).toMatchObject({ maxRetries: 9, backoffMs: 5, backoffCapMs: 60_000, backoffMultiplier: 2 })
    expect((await prepare({ retry: { maxRetries: 0 } }, settings)).retry.maxRetries).toBe(0)
  })

  it('refuses a model with the code of every entrance', async () => {
    const model = (): never => {
      throw new ModelError('AUTHENTICATION', 'no key')
    }
    await expect(prepare({}, { model })).rejects.toMatchObject({ name: 'Problem', code: 'MODEL_AUTHENTICATION' })
  })

  it('counts turns as the role says, with the grace turns on top', async () => {
    expect((await prepare({ role: 'coder' })).limits.maxTurns).toBe(17)
    expect((await prepare({ role: 'coder', recovery: { graceTurns: 5 } })).limits.maxTurns).toBe(20)
    expect((await prepare({ role: 'coder', limits: { maxTurns: 3 } })).limits.maxTurns).toBe(3)
  })

  it('lets runs delegate that say nothing of it, unless the settings, the request or its policy say no', async () => {
    const names = async (asked: object, more: Partial<PrepareServices> = {}) => {
      const { tools, delegation } = await prepare(asked, { delegation: {}, ...more })
      expect(tools.some(({ name }) => name === 'delegate_to_agent')).toBe(delegation !== undefined)
      return delegation
    }
    expect(await names({})).toMatchObject({ maxDepth: 3, agents: 100, roles: { coder: role } })
    expect(await names({ role: 'coder', delegation: { maxDepth: 1 } })).toMatchObject({ maxDepth: 1, agents: 100 })
    expect(await names({ delegation: {} }, { delegation: null })).toMatchObject({ maxDepth: 3 })
    expect(await names({}, { delegation: null })).toBeUndefined()
    expect(await names({ delegation: false })).toBeUndefined()
    expect(await names({ policy: { deniedTools: ['delegate_to_agent'] } })).toBeUndefined()
  })

  it('offers no tool that could do nothing', async () => {
    const names = async (asked: object) => (await prepare(asked)).tools.map((t) => t.name)
    expect(await names({})).toEqual(['remember', 'complete_task'])
    expect(await names({ workspace: '/w', tools: ['read_file'] })).toEqual(['read_file', 'complete_task'])
    await expect(prepare({ tools: ['read_file'] })).rejects.toMatchObject({ code: 'WORKSPACE_MISSING' })
    await expect(prepare({ tools: ['fly'] })).rejects.toMatchObject({ code: 'UNKNOWN_TOOL' })
  })

  it("takes a role's model and time limit where the request names none", async () => {
    const own = { name: 'release', file: '/r/release.json', definition: role, model: 'own', wallClockMs: 60_000 }
    const roles = { roles: async () => ({ roles: [own], faults: [] }) }
    const ours = await prepare({ role: 'release' }, roles)
    expect([ours.models.requested, ours.limits.wallClockMs, ours.role]).toEqual(['own', 60_000, role])
    const asked = await prepare({ role: 'release', model: 'm', limits: { wallClockMs: null } }, roles)
    expect([asked.models.requested, asked.limits.wallClockMs]).toEqual(['m', null])
  })

  it('asks for a sandbox where a gate of the role runs a command', async () => {
    const gates = { ...role, qualityGates: [{ after: 'do', check: 'lint', argv: ['lint'] }] }
    const one = { name: 'release', file: null, definition: gates, model: null, wallClockMs: null }
    const none = {
      roles: async () => ({ roles: [one], faults: [] }),
      sandboxFault: async () => 'bwrap is not installed',
    }
    const asked = { role: 'release', workspace: '/w', tools: ['read_file'] }
    await expect(prepare(asked, none)).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
  })

  it('refuses unknown roles and secrets by name, and tells what could not be read or reached', async () => {
    await expect(prepare({ role: 'poet' })).rejects.toThrow(
      'there is no role "poet"; there are coder; roles/release.json: name: is missing',
    )
    const down = 'complete_task; MCP server "tracker" cannot be reached: it is down'
    await expect(prepare({ tools: ['tracker:add'] })).rejects.toThrow(down)
    await expect(prepare({ approve: ['tracker:add'] })).rejects.toThrow(down)
    await expect(prepare({ secrets: ['KNOWN', 'OTHER'] })).rejects.toThrow('no value for OTHER')
    expect((await prepare({ secrets: ['KNOWN', 'KNOWN'] })).secrets).toEqual([{ name: 'KNOWN', reference }])
    await expect(prepare({ secrets: ['KNOWN=@server:trakcer'] })).rejects.toMatchObject({
      code: 'UNKNOWN_TOOL',
      message: expect.stringMatching(/^secrets: no tool of a server "trakcer" is known; /),
    })
  })

  it('names the first of many tools and the beginning of long names', async () => {
    const many = Array.from({ length: 10_000 }, (_, n) => `t${n}`)
    const long = 'x'.repeat(10_000)
    for (const asked of [
      { tools: many },
      { approve: many },
      { tools: Array(10_000).fill('read_file') },
      ...[{ tools: [long] }, { role: long }, { secrets: [`KNOWN=@server:${long}`] }],
    ]) {
      const refused: unknown = await prepare(asked).catch((error: unknown) => error)
      expect(refused).toMatchObject({ name: 'Problem' })
      expect((refused as Error).message.length).toBeLessThan(1_000)
    }
  })

  it('never weakens the sandbox silently', async () => {
    const none = { sandboxFault: async () => 'bwrap is not installed' }
    await expect(prepare({ workspace: '/w' }, none)).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
    expect((await prepare({ workspace: '/w', policy: { sandboxed: false } }, none)).policy.sandboxed).toBe(false)
    expect((await prepare({ workspace: '/w', tools: ['read_file'] }, none)).policy.sandboxed).toBe(true)
  })
})
