import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { treeLines } from '../../../api/cli/output/tree-text.ts'
import type { RunTree } from '../../../api/operations/runs/schemas.ts'
import { agentStream } from '../../../domain/log/ids.ts'
import { treeSpec } from '../../support/tree/plans.ts'
import { Recorded } from '../../support/tree/recorded.ts'
import { play, ROOT } from '../../support/tree/walk.ts'
import { inProcess } from '../support/cli.ts'
import { bodyOf, openWorld } from '../support/http.ts'

// What people see of a tree of agents, over HTTP and on the command line.

const leaf = { rounds: [], ends: 'completes' } as const
const talks = { rounds: [], ends: 'talks' } as const
const looks = { rounds: [{ children: [], looks: 1 }], ends: 'completes' } as const
const parent = { rounds: [{ children: [looks], looks: 0 }], ends: 'completes' } as const

type World = Awaited<ReturnType<typeof openWorld>>
type Tree = z.infer<typeof RunTree>

/** A world whose log holds the tree of a plan. */
async function holding(plan: Parameters<typeof play>[0], policy: object = {}) {
  const world = await openWorld()
  const recorded = new Recorded({ startsAt: Date.now() + 1_000 })
  const spec = treeSpec({
    budget: { tokens: 200_000, nanoDollars: null },
    policy: { mode: 'batch', ...policy },
  })
  const agents = play(plan, spec, [], undefined, {}, recorded)
  await recorded.into(world.services.log)
  return { world, agents }
}

const cli = (world: World, ...args: string[]) => inProcess(['--data', world.data, ...args], {}, {})

describe('a tree that has ended', () => {
  let world: World
  let ids: string[]
  beforeAll(async () => {
    const held = await holding({ rounds: [{ children: [leaf, talks], looks: 1 }], ends: 'completes' })
    world = held.world
    ids = [...held.agents.streams.keys()].filter((id) => id !== ROOT)
  })
  afterAll(() => world.close())

  it('is one list: each agent after its parent, with its end, its turns and its money', async () => {
    const tree = await bodyOf<Tree>(await world.ask('GET', `/v1/runs/${ROOT}/tree`))
    expect(tree.agents.map(({ agentId, parentId, depth }) => [agentId, parentId, depth])).toEqual([
      [ROOT, null, 0],
      [ids[0], ROOT, 1],
      [ids[1], ROOT, 1],
    ])
    expect(tree.agents.map(({ status, code }) => [status, code])).toEqual([
      ['completed', null],
      ['completed', null],
      ['failed', 'NO_COMPLETION'],
    ])
    const [root, ...children] = tree.agents
    const { budget, own, total } = root!
    expect(total.modelCalls).toBe(own.modelCalls + children.reduce((sum, one) => sum + one.own.modelCalls, 0))
    expect(budget!.tokens).toEqual({
      given: 200_000,
      spent: total.inputTokens! + total.outputTokens!,
      reserved: 0,
      uncertain: 0,
    })
    expect(budget!.agents).toEqual({ given: 100, spent: 3, reserved: 0, uncertain: 0 })
    expect(tree.recorded).toEqual([])
  })

  it('is drawn by the command line, and a run that there is not is told', async () => {
    const { code, out } = await cli(world, 'tree', ROOT)
    expect(code).toBe(0)
    const lines = out.trimEnd().split('\n')
    expect(lines[0]).toMatch(/^AGENT +STATUS +TURN +OWN +TOTAL/)
    expect(lines[1]).toMatch(/^agent +completed/)
    expect(lines[2]).toMatch(/^├─ Hand +completed .*\w{24}$/)
    expect(lines[3]).toMatch(/^└─ Hand +failed, NO_COMPLETION/)
    expect((await world.ask('GET', '/v1/runs/nothing/tree')).status).toBe(404)
    expect((await cli(world, 'tree', ROOT, '--follow')).out).toBe(out)
  })

  it('is verified, exported and read agent by agent', async () => {
    const whole = await bodyOf<{ ok: boolean; agents: { agentId: string }[] }>(
      await world.ask('GET', `/v1/runs/${ROOT}/verify`),
    )
    expect(whole).toMatchObject({ ok: true })
    expect(whole.agents.map(({ agentId }) => agentId).sort()).toEqual([ROOT, ...ids].sort())
    const one = await bodyOf<typeof whole>(await world.ask('GET', `/v1/runs/${ROOT}/verify?agent=${ids[0]}`))
    expect(one.agents.map(({ agentId }) => agentId)).toEqual([ids[0]])
    expect((await world.ask('GET', `/v1/runs/${ROOT}/verify?agent=other`)).status).toBe(404)
    expect((await cli(world, 'verify', ROOT, '--agent', ids[0]!)).out).toMatch(new RegExp(`^${ids[0]}: holds`))
    const exported = (await cli(world, 'export', ROOT, '--agent', ids[1]!)).out.trimEnd().split('\n')
    expect(JSON.parse(exported[0]!)).toMatchObject({ runId: ROOT, streams: [{ stream: agentStream(ids[1]!) }] })
    expect((await cli(world, 'replay', ROOT, '--agent', ids[0]!, '-o', 'json')).out).toContain(
      `"threadId": "${ids[0]}"`,
    )
    expect((await cli(world, 'events', ROOT, '--agent', ids[0]!)).out).toContain('agent_started')
  })

  it('is erased whole, and tells before which bodies of which agents', async () => {
    const all = { all: true, reason: 'private' }
    const dry = await bodyOf<{ bodies: { agentId: string; type: string }[] }>(
      await world.ask('POST', `/v1/runs/${ROOT}/erase`, { body: { ...all, dryRun: true } }),
    )
    expect(new Set(dry.bodies.map(({ agentId }) => agentId))).toEqual(new Set([ROOT, ...ids]))
    const done = await world.ask('POST', `/v1/runs/${ROOT}/erase`, {
      body: all,
      headers: { 'idempotency-key': 'once' },
    })
    expect(await bodyOf(done)).toMatchObject({ agentId: ROOT })
    const proof = await bodyOf<{ ok: boolean; agents: { erased: unknown[] }[] }>(
      await world.ask('GET', `/v1/runs/${ROOT}/verify`),
    )
    expect(proof.ok).toBe(true)
    for (const { erased } of proof.agents) expect(erased.length).toBeGreaterThan(0)
    const tree = await bodyOf<Tree>(await world.ask('GET', `/v1/runs/${ROOT}/tree`))
    expect(tree.agents.map(({ own }) => own.modelCalls)).toEqual([2, 1, 1])
  })

  it('a fork keeps the children that had ended as they were recorded', async () => {
    const forked = await world.ask('POST', `/v1/runs/${ROOT}/fork`, { body: { drive: false } })
    const { runId } = await bodyOf<{ runId: string }>(forked)
    const tree = await bodyOf<Tree>(await world.ask('GET', `/v1/runs/${runId}/tree`))
    expect(tree.agents.map(({ agentId }) => agentId)).toEqual([runId])
    expect(tree.recorded).toMatchObject([
      { agentId: ids[0], parentId: ROOT, runId: ROOT, status: 'completed' },
      { agentId: ids[1], status: 'failed', code: 'NO_COMPLETION' },
    ])
    const compared = await bodyOf(await world.ask('GET', `/v1/runs/${ROOT}/compare?with=${runId}&limit=3`))
    expect(compared).toMatchObject({ a: ROOT, b: runId, first: null })
    expect(compared.places).toHaveLength(3)
    expect((await cli(world, 'diff', ROOT, runId)).out).toMatch(/are the same in all \d+ things/)
    expect((await cli(world, 'tree', runId)).out).toContain(`as ${ROOT} recorded it: coder completed, ${ids[0]}`)
  })
})

describe('an agent deep in a tree that asks', () => {
  let world: World
  let asking: string
  beforeAll(async () => {
    const { world: held, agents } = await holding(
      { rounds: [{ children: [parent], looks: 0 }], ends: 'completes' },
      { requiresApproval: ['look'] },
    )
    world = held
    asking = [...agents.streams].find(([, { state }]) => state.depth === 2)![0]
  })
  afterAll(() => world.close())

  it('is in the inbox with the way to it', async () => {
    const { approvals } = await bodyOf<{ approvals: { agentPath: { agentId: string; role: string | null }[] }[] }>(
      await world.ask('GET', '/v1/approvals'),
    )
    expect(approvals.map(({ agentPath }) => agentPath.map(({ role }) => role))).toEqual([[null, 'Hand', 'Hand']])
    expect(approvals[0]!.agentPath[0]!.agentId).toBe(ROOT)
    expect(approvals[0]!.agentPath[2]!.agentId).toBe(asking)
    const { err, out } = await cli(world, 'approvals')
    expect(err).toContain('look waits for approval (agent › Hand › Hand)')
    expect(out).toContain('agent › Hand › Hand')
  })

  it('waits in the tree, its parents hold what they granted, and input reaches it', async () => {
    const tree = await bodyOf<Tree>(await world.ask('GET', `/v1/runs/${ROOT}/tree`))
    const waits = tree.agents.find(({ agentId }) => agentId === asking)!
    expect(waits).toMatchObject({ status: 'active', waiting: [{ for: 'approval' }] })
    expect(tree.agents[0]!.budget!.tokens.reserved).toBeGreaterThan(0)
    expect(treeLines(tree, null).join('\n')).toMatch(/\n {3}└─ Hand +active, waits: approval/)
    const said = await world.ask('POST', `/v1/runs/${ROOT}/input`, { body: { text: 'hurry', agent: asking } })
    expect(await bodyOf(said)).toMatchObject({ runId: ROOT, agentId: asking })
    const wrong = await world.ask('POST', `/v1/runs/${ROOT}/input`, { body: { text: 'hurry', agent: 'other' } })
    expect(wrong.status).toBe(404)
  })
})
