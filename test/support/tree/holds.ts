import { expect } from 'vitest'
import type { TreeWorld } from './world.ts'

/** Checks law 5 of trees: the tree ended like `whole`, the tree without faults. */
export async function holds(world: TreeWorld, whole: Awaited<ReturnType<TreeWorld['told']>>): Promise<void> {
  const told = await world.told()
  expect(Object.keys(told)).toEqual(Object.keys(whole))
  for (const [id, one] of Object.entries(told)) {
    const { messages, ...rest } = one
    const { messages: before, ...same } = whole[id]!
    expect(rest).toEqual(same)
    // A person's statement about an unknown outcome is part of the messages.
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
