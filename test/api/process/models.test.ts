import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type KeepUp, type KeepUpOptions, openKeepUp, type RoutingConfig } from '../../../api/index.ts'
import { freshFolders } from '../../support/folders.ts'
import { cliFolder } from '../support/cli.ts'

const finish = (summary: string) => ({
  script: 1 as const,
  turns: [{ calls: [{ tool: 'complete_task', arguments: { summary } }] }],
})
const scripts = { small: finish('small'), large: finish('large') } satisfies KeepUpOptions['scripts']
const price = (input: string) => ({ asOf: '2026-11-01', input, output: input })
const models: NonNullable<KeepUpOptions['models']> = [
  { id: 'scripted:small', price: price('1'), quality: 1 },
  { id: 'scripted:large', price: price('9'), quality: 7 },
]
const routing: RoutingConfig = {
  models: ['scripted:large', 'scripted:small'],
  rules: [
    { name: 'planning', when: { roles: ['Coder'] }, policy: 'quality' },
    { name: 'routine', policy: 'cost' },
  ],
}

describe('routing, health and the request cache for users', { timeout: 60_000 }, () => {
  let folders: ReturnType<typeof freshFolders>
  let open: KeepUp[] = []
  const opened = async (more: Partial<KeepUpOptions> = {}) => {
    const keepup = await openKeepUp({ data: folders.data, scripts, models, routing, by: 'ada', ...more })
    open.push(keepup)
    return keepup
  }
  beforeEach(() => {
    folders = freshFolders()
  })
  afterEach(async () => {
    for (const keepup of open) await keepup.close()
    open = []
    folders.remove()
  })

  it('runs that name no model are routed, and the library explains the choice', async () => {
    const keepup = await opened()
    const { runId } = await keepup.start({ task: 'go' })
    expect(await keepup.drive(runId)).toMatchObject({ end: 'done' })
    const { decisions } = await keepup.getRouting({ id: runId, turn: 1 })
    const [first] = decisions
    expect(first?.decision).toMatchObject({ resolved: 'scripted:small', rule: 'routine', policy: 'cost' })
    expect(first?.decision.candidates).toHaveLength(2)
    await expect(keepup.getRouting({ id: runId, turn: 9 })).rejects.toMatchObject({ code: 'POINT_UNKNOWN' })
    const { models: known, choice } = await keepup.listModels()
    expect(choice.resolved).toBe('scripted:small')
    expect(known.find(({ id }) => id === 'scripted:small')?.figures).toMatchObject({ calls: 1, health: 'healthy' })
    expect(known.find(({ id }) => id === 'scripted:large')?.figures).toBeNull()
  })

  it('a run that names its model, a role that has one, and rules of its own come first', async () => {
    const keepup = await opened()
    const named = await keepup.start({ task: 'go', model: 'scripted:large' })
    await keepup.drive(named.runId)
    expect((await keepup.getRouting({ id: named.runId, turn: 1 })).decisions[0]?.decision).toMatchObject({
      resolved: 'scripted:large',
      reason: 'the run names scripted:large',
    })
    const own = { models: ['scripted:large'], rules: [{ name: 'mine', policy: 'quality' as const }] }
    const ruled = await keepup.start({ task: 'go', routing: own })
    await keepup.drive(ruled.runId)
    expect((await keepup.getRouting({ id: ruled.runId, turn: 1 })).decisions[0]?.decision).toMatchObject({
      rule: 'mine',
      resolved: 'scripted:large',
    })
    await expect(keepup.start({ task: 'go', model: 'scripted:small', routing: own })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    })
    const gone = { models: ['scripted:gone'], rules: own.rules }
    await expect(keepup.start({ task: 'go', routing: gone })).rejects.toThrow(/scripted:gone|gone/)
  })

  it('answers come from the request cache where a run wants it, also after a restart, until a restore', {
    tags: ['git'],
  }, async () => {
    const usageOf = async (keepup: KeepUp, more: object = {}) => {
      const { runId } = await keepup.start({ task: 'go', cache: true, ...more })
      await keepup.drive(runId)
      let spent = 0
      for await (const { type, payload } of keepup.follow(runId))
        if (type === 'model_call_end') spent += (payload as { nanoDollars: number }).nanoDollars
      return spent
    }
    const first = await opened()
    expect(await usageOf(first)).toBeGreaterThan(0)
    expect(await usageOf(first)).toBe(0)
    expect(await usageOf(first, { cache: false })).toBeGreaterThan(0)
    await first.close()
    const second = await opened({ requestCache: true })
    expect(await usageOf(second, { cache: undefined })).toBe(0)
    const { runId } = await second.start({ task: 'files', workspace: folders.ws, policy: { sandboxed: false } })
    await second.drive(runId)
    await second.services.files.restore(runId, { to: { step: 0 }, dryRun: true })
    expect(await usageOf(second)).toBe(0)
    await second.services.files.restore(runId, { to: { step: 0 }, dryRun: false })
    expect(await usageOf(second)).toBeGreaterThan(0)
  })

  it.each([
    [{ routing: { models: ['a'], rules: [] } }, /routing\.rules/],
    [{ routing: { ...routing, rules: [{ name: 'x', policy: 'cheapest' }] } }, /routing\.rules\.0\.policy/],
    [{ modelHealth: { errorRate: 2 } }, /modelHealth\.errorRate/],
    [{ rateLimits: { other: { requestsPerMinute: 1 } } }, /rateLimits/],
  ])('settings that cannot be used are refused by their key: %j', async (more, said) => {
    await expect(opened(more as never)).rejects.toThrow(said)
  })
})

describe('keepup models and explain', { timeout: 60_000 }, () => {
  it('show the choice, and why', async () => {
    const folder = cliFolder()
    try {
      mkdirSync(folder.data)
      const script = folder.env.KEEPUP_MODEL
      const other = { id: 'openai:other', contextTokens: 1_000, price: price('1'), tools: false, quality: 4 }
      const config = {
        models: [{ id: script, price: price('3'), quality: 2 }, other],
        routing: { models: [script], rules: [{ name: 'only', policy: 'quality' }] },
      }
      writeFileSync(join(folder.data, 'keepup.json'), JSON.stringify(config))
      const ran = await folder.look('run', 'finish', '--no-workspace')
      const id = /^run (\w+)\r?$/m.exec(ran.err)![1]!
      const shown = await folder.look('models')
      expect(shown.out).toMatch(/^MODEL +CONTEXT +INPUT +OUTPUT +RANK +CAN/)
      expect(shown.out).toMatch(/ \* +200000 +\$3\.0000 +\$3\.0000 +2 +tools/)
      expect(shown.out).toMatch(/^openai:other +1000 +\$1\.0000 +\$1\.0000 +4/m)
      expect(shown.err).toContain('rule "only": the highest rank')
      const json = JSON.parse((await folder.look('-o', 'json', 'models')).out)
      expect(json.choice).toMatchObject({ rule: 'only', resolved: script })
      const why = await folder.look('explain', id, '--turn', '1')
      expect([why.code, why.out]).toEqual([0, expect.stringContaining('rule "only"')])
      const none = await folder.look('explain', id, '--turn', '7')
      expect([none.code === 0, none.err]).toEqual([false, expect.stringContaining('no model call in turn 7')])
    } finally {
      folder.clean()
    }
  })
})
