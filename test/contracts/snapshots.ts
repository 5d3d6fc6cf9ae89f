import { expect, test } from 'vitest'
import type { SnapshotStore } from '../../domain/ports/index.ts'

const at = (revision: number) => ({ revision, step: revision * 2, state: { revision } })

/** The promises of every SnapshotStore. `open`: an empty one. */
export function snapshotsContract(open: () => SnapshotStore): void {
  test('gives the latest at or before a revision or a step', async () => {
    const snapshots = open()
    for (const revision of [3, 7]) await snapshots.put('a', 1, at(revision))
    expect(await snapshots.latest('a', 1, {})).toEqual(at(7))
    expect(await snapshots.latest('a', 1, { revision: 6 })).toEqual(at(3))
    expect(await snapshots.latest('a', 1, { step: 13 })).toEqual(at(3))
    expect(await snapshots.latest('a', 2, {})).toBe(null)
  })

  test('throws all away, of every agent', async () => {
    const snapshots = open()
    for (const agentId of ['a', 'b']) await snapshots.put(agentId, 1, at(1))
    await snapshots.clear()
    expect([await snapshots.latest('a', 1, {}), await snapshots.latest('b', 1, {})]).toEqual([null, null])
  })

  test('a stored state does not change with the object that was given or taken', async () => {
    const snapshots = open()
    const state = { list: [1] }
    await snapshots.put('a', 1, { revision: 1, step: 1, state })
    state.list.push(2)
    const taken = (await snapshots.latest('a', 1, {}))!.state as typeof state
    taken.list.push(3)
    expect((await snapshots.latest('a', 1, {}))!.state).toEqual({ list: [1] })
  })
}
