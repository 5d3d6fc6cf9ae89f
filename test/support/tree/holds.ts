import { expect } from 'vitest'
import type { TreeWorld } from './world.ts'

/** The tree has ended as `whole`, the one without faults, did: law 5 of trees. */
export async function holds(world: TreeWorld, whole: Awaited<ReturnType<TreeWorld['told']>>): Promise<void> {
  const told = await world.told()
  expect(Object.keys(told)).toEqual(Object.keys(whole))
  for (const [id, one] of Object.entries(told)) {
    const { messages, ...rest } = one
    const { messages: before, ...same } = whole[id]!
    expect(rest).toEqual(same)
    // What a person has said of an unknown outcome stands among the messages.
    if (world.doubts === 0) expect(messages).toEqual(before)
  }
  for (const times of world.effects.values()) expect(times).toBe(1)
  for (const { totals, sums } of await world.books()) expect(totals).toEqual(sums)
  for (const id of Object.keys(told)) {
    const births = (await world.events(id)).filter(({ type }) => type === 'agent_started')
    expect(births).toHaveLength(1)
    expect((await world.process.runtime.verify(id)).problems).toEqual([])
  }
}
