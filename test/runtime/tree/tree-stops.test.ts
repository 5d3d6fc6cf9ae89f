import { expect, test } from 'vitest'
import { agentStream, childAgentId } from '../../../domain/log/ids.ts'
import { USER } from '../../support/harness.ts'
import type { Boundary } from '../../support/tree/dying-log.ts'
import { type Plan, worldSpec } from '../../support/tree/plans.ts'
import { ROOT, TreeWorld } from '../../support/tree/world.ts'

// Cancel, pause, approvals and damage in a tree that is driven.

const leaf: Plan = { rounds: [{ children: [], looks: 1 }], ends: 'completes' }
const DEEP: Plan = {
  rounds: [{ children: [{ rounds: [{ children: [leaf], looks: 0 }], ends: 'completes' }, leaf], looks: 0 }],
  ends: 'completes',
}
const CHILD = childAgentId(`${ROOT}.t1.c0`)
const OTHER = childAgentId(`${ROOT}.t1.c1`)

/** Something is recorded in a stream. */
const recorded = (agentId: string, type: string) => (boundary: Boundary) =>
  boundary.name === 'after_append' && boundary.stream === agentStream(agentId) && boundary.types.includes(type)

/** Does something once, at the first boundary that fits. */
function once(world: TreeWorld, at: (boundary: Boundary) => boolean, act: () => Promise<unknown>): void {
  let done = false
  world.onBoundary = (boundary) => {
    if (done || !at(boundary)) return
    done = true
    void act()
  }
}

test.each([
  ['its birth is recorded', recorded(ROOT, 'child_delegated')],
  ['its birth is delivered', recorded(CHILD, 'agent_started')],
  ['it is at work', recorded(CHILD, 'model_call_start')],
  ['its own child is at work', recorded(childAgentId(`${CHILD}.t1.c0`), 'model_call_start')],
])('a cancel of the root when %s ends every agent, and nothing is owed then', async (_, at) => {
  const world = new TreeWorld(DEEP)
  once(world, at, () => world.ask(ROOT, { kind: 'cancel', deadlineMs: 10_000 }, 'cancel'))
  expect(await world.live()).toMatchObject({ end: 'error', code: 'CANCELLED' })
  const told = await world.told()
  for (const { status, code, owes, open } of Object.values(told))
    expect([code ?? status, owes, open]).toEqual(['CANCELLED', 0, []])
})

test('a process that helped before a cancel of the root begins no agent after it, while the dead holder keeps the run', async () => {
  const whole = new TreeWorld(DEEP)
  await whole.live()
  const world = new TreeWorld(DEEP)
  await world.until(whole.boundaries.findIndex(recorded(OTHER, 'agent_started')) + 1)
  world.workers = 2
  const helper = world.boot()
  world.boot()
  const [over, cancelled] = [new AbortController(), Promise.withResolvers<void>()]
  const take = world.leases.take.bind(world.leases)
  let [asked, free] = [0, false]
  world.leases.take = async (process, name) => {
    if (name !== ROOT) return free ? take(process, name) : null
    asked++
    if (asked === 3)
      void world.ask(ROOT, { kind: 'cancel', deadlineMs: 10_000 }, 'cancel').then(() => {
        free = true
        cancelled.resolve()
      })
    if (asked === 30) over.abort()
    return null
  }
  await helper.runtime.drive(ROOT, { signal: over.signal })
  await cancelled.promise
  for (const agentId of [CHILD, OTHER])
    expect((await world.events(agentId)).map(({ type }) => type)).not.toContain('model_call_start')
  world.leases.take = take
  expect(await world.goOn()).toMatchObject({ end: 'error', code: 'CANCELLED' })
})

test('a pause of the root rests the whole tree, and a resume goes on with it', async () => {
  const world = new TreeWorld(DEEP)
  once(world, recorded(CHILD, 'model_call_start'), () => world.ask(ROOT, { kind: 'pause' }, 'pause'))
  expect(await world.live()).toMatchObject({ end: 'waiting', for: 'pause' })
  const [root, child] = await Promise.all([ROOT, CHILD].map(async (id) => new Map(await world.states()).get(id)!))
  expect([root!.paused, child!.paused]).toEqual([true, true])
  await world.ask(ROOT, { kind: 'resume' }, 'resume')
  expect(await world.drive()).toEqual({ end: 'done' })
})

test('a child that waits for an approval ends the drive with its call; approved, the run goes on', async () => {
  const spec = worldSpec({ policy: { mode: 'batch', requiresApproval: ['look'] } })
  const world = new TreeWorld({ rounds: [{ children: [leaf], looks: 0 }], ends: 'completes' }, undefined, spec)
  const toolCallId = `${CHILD}.t1.c0`
  expect(await world.live()).toEqual({ end: 'waiting', for: 'approval', toolCallIds: [toolCallId], agentId: CHILD })
  await world.process.runtime.execute(
    CHILD,
    { kind: 'decide_approval', toolCallId, decision: 'approved' },
    { by: USER, key: 'yes' },
  )
  expect(await world.drive(CHILD)).toEqual({ end: 'done' })
})

test('an approval is taken up while other agents are at work', async () => {
  const quiet: Plan = { rounds: [], ends: 'completes' }
  const busy: Plan = { rounds: [{ children: [quiet], looks: 0 }], ends: 'completes' }
  const spec = worldSpec({ policy: { mode: 'batch', requiresApproval: ['look'] } })
  const world = new TreeWorld({ rounds: [{ children: [leaf, busy], looks: 0 }], ends: 'completes' }, undefined, spec)
  const decide = { kind: 'decide_approval', toolCallId: `${CHILD}.t1.c0`, decision: 'approved' } as const
  once(world, recorded(CHILD, 'approval_requested'), () => world.ask(CHILD, decide, 'yes'))
  expect(await world.live()).toEqual({ end: 'done' })
})

test('a child whose stream is damaged is a failed call, and the parent goes on', async () => {
  const damaged = { stream: '' }
  const world = new TreeWorld(DEEP, (boundary) => {
    if (damaged.stream !== '' || !recorded(OTHER, 'driver_claimed')(boundary)) return false
    damaged.stream = agentStream(OTHER)
    return true
  })
  world.damaged = damaged
  expect(await world.live()).toEqual({ end: 'done' })
  const ends = (await world.events(ROOT)).filter(({ toolCallId, type }) => {
    return toolCallId === `${ROOT}.t1.c1` && type === 'tool_call_end'
  })
  expect(ends.map(({ body }) => (body as { error?: object }).error)).toMatchObject([
    { code: 'EXECUTION_FAILED', rule: 'child_unreadable' },
  ])
})
