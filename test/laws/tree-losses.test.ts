import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MemoryLog } from '../../adapters/memory/log.ts'
import type { AgentEvent } from '../../domain/agent/events/events.ts'
import { originOf, targetsOf } from '../../domain/agent/state/courier.ts'
import { isFinished } from '../../domain/agent/state/state.ts'
import { obligationKey } from '../../domain/courier/ledger.ts'
import { agentStream } from '../../domain/log/ids.ts'
import { idOf } from '../../domain/log/owner.ts'
import type { EventLog } from '../../domain/ports/index.ts'
import { law } from '../support/laws.ts'
import { type Plan, treeArbitrary } from '../support/tree/plans.ts'
import { ROOT, TreeWorld } from '../support/tree/world.ts'

// Accepted losses of a part of a tree: a stream that has lost its end uses revisions again. No obligation is taken for another
// one that stood there before, none is lost without a word, and no child is born twice.

/** A copy of a log that has lost the end of one stream. */
async function without(log: EventLog, stream: string, kept: number): Promise<EventLog> {
  const left = new MemoryLog()
  for await (const names of log.streams('agent-'))
    for (const name of names)
      for await (const page of log.read(name))
        for (const event of page)
          if (name !== stream || event.header.revision <= kept)
            await left.append(name, event.header.revision - 1, [event])
  return left
}

/** The end of the last append at or before a revision: a log loses no part of an append. */
async function endOfAppend(log: EventLog, stream: string, revision: number): Promise<number> {
  let end = 0
  for await (const page of log.read(stream))
    for (const { header } of page) if (header.wakeAt !== undefined && header.revision <= revision) end = header.revision
  return end
}

/** A run that was broken off at a boundary, and one of its streams that has lost `lost` events, which was accepted. */
async function shortened(plan: Plan, { at, which, lost }: { at: number; which: number; lost: number }) {
  const before = new TreeWorld(plan)
  await before.until(at)
  const ids = await before.agents()
  if (ids.length === 0) return null
  const stream = agentStream(ids[which % ids.length]!)
  const head = (await before.log.head(stream))!.revision
  const kept = await endOfAppend(before.log, stream, head - lost)
  // Without any event it has vanished, which is another loss.
  if (kept === 0) return null
  const log = await without(before.log, stream, kept)
  const world = new TreeWorld(plan, undefined, undefined, log)
  world.clock.time = before.clock.now()
  for (const [id, times] of before.effects) world.effects.set(id, times)
  await world.acceptLoss(idOf(stream))
  return { world, stream }
}

/** Obligations that neither stand in their targets nor were bounced by name. */
async function dropped(world: TreeWorld): Promise<string[]> {
  const all = new Map<string, { state: Awaited<ReturnType<TreeWorld['states']>>[number][1]; events: AgentEvent[] }>()
  for (const [id, state] of await world.states()) all.set(agentStream(id), { state, events: await world.events(id) })
  const silent: string[] = []
  for (const [stream, { state, events }] of all) {
    const bounced = new Map<number, string>()
    for (const { type, body } of events)
      if (type === 'delivered') for (const { revision, reason } of body.bounced) bounced.set(revision, reason)
    for (const event of events) {
      if (bounced.has(event.revision)) continue
      for (const target of targetsOf(state, event)) {
        const copies = (all.get(target)?.events ?? []).flatMap((one) => originOf(one) ?? [])
        const arrived = copies.some((one) => one.stream === stream && one.bodyHash === event.bodyHash)
        if (!arrived) silent.push(`${stream}@${event.revision} ${event.type} to ${target}`)
      }
    }
  }
  return silent
}

async function goesOn({ world }: { world: TreeWorld }): Promise<void> {
  expect(['done', 'error']).toContain((await world.goOn()).end)
  expect(await dropped(world)).toEqual([])
  const ids = await world.agents()
  const keys: string[] = []
  for (const id of ids) {
    const events = await world.events(id)
    expect(events.filter(({ type }) => type === 'agent_started')).toHaveLength(1)
    keys.push(
      ...events.flatMap((event) => (originOf(event) === null ? [] : `${id} ${obligationKey(originOf(event)!)}`)),
    )
  }
  expect(new Set(keys).size).toBe(keys.length)
  for (const times of world.effects.values()) expect(times).toBe(1)
  expect(isFinished(new Map(await world.states()).get(ROOT)!)).toBe(true)
}

const leaf: Plan = { rounds: [], ends: 'completes' }

test('a root that lost the births of its children starts none of them again, and their ends are refused by name', async () => {
  const plan: Plan = { rounds: [{ children: [leaf, leaf, leaf], looks: 0 }], ends: 'completes' }
  const cut = (await shortened(plan, { at: 46, which: 0, lost: 8 }))!
  expect((await cut.world.events(ROOT)).some(({ type }) => type === 'child_delegated')).toBe(false)
  await goesOn(cut)
  const told = (await Promise.all((await cut.world.agents()).map((id) => cut.world.events(id)))).flat()
  const again = told.flatMap(({ type, body }) => (type === 'delivered' && body.again ? body.bounced : []))
  expect(again.map(({ reason }) => reason)).toEqual([expect.stringContaining('is not its child')])
  const children = (await cut.world.agents()).filter((id) => id !== ROOT)
  const orphans = children.map(async (id) =>
    (await cut.world.process.runtime.verify(id)).problems.map(({ code }) => code),
  )
  // The first one had ended before the loss: nothing of it is left undone.
  expect((await Promise.all(orphans)).sort()).toEqual([[], ['ORPHAN'], ['ORPHAN']])
})

test('a stream of a tree loses any part of its end anywhere: what is owed arrives, or is refused by name', async () => {
  const losses = fc.record({
    at: fc.integer({ min: 10, max: 150 }),
    which: fc.nat(20),
    lost: fc.integer({ min: 1, max: 12 }),
  })
  await law(fc.tuple(treeArbitrary, losses), 5, async ([plan, loss]) => {
    const cut = await shortened(plan, loss)
    if (cut !== null) await goesOn(cut)
  })
})
