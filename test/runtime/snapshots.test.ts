import { describe, expect, test } from 'vitest'
import { agentStateAt } from '../../domain/agent/runtime/history/replay.ts'
import { agentSnapshots } from '../../domain/agent/runtime/history/snapshots.ts'
import { digestOf } from '../../domain/agent/state/digest.ts'
import type { AgentState } from '../../domain/agent/state/state.ts'
import { canonicalText } from '../../domain/log/canonical.ts'
import { agentStream, sha256 } from '../../domain/log/ids.ts'
import type { Json } from '../../domain/log/json.ts'
import type { Snapshot, SnapshotStore } from '../../domain/ports/index.ts'
import type { Stores, StreamPorts } from '../../domain/stream/runtime/ports.ts'
import { replaced } from '../../domain/stream/runtime/replace-member.ts'
import { SNAPSHOT_EVERY, Snapshotter } from '../../domain/stream/runtime/snapshots.ts'
import { call, calls, completes, USER } from '../support/harness.ts'
import { given, tool } from '../support/story.ts'

// Any program may have damaged the cache: an altered entry is not used.

class One implements SnapshotStore {
  held: Snapshot | null = null
  asked: object | null = null
  /** Whatever is held, even if it is not what was asked for. */
  async latest(_agentId: string, _fold: number, upTo: object): Promise<Snapshot | null> {
    this.asked = upTo
    return this.held
  }
  async put(_agentId: string, _fold: number, snapshot: Snapshot): Promise<void> {
    this.held = JSON.parse(JSON.stringify(snapshot))
  }
  async clear(): Promise<void> {
    this.held = null
  }
}

const fromSnapshot = (ports: Stores & Pick<StreamPorts, 'snapshots'>, agentId: string, upTo: { revision?: number }) =>
  agentSnapshots.latest(ports, agentStream(agentId), upTo)

const keepIn = (snapshots: One, state: AgentState) =>
  new Snapshotter(agentSnapshots, snapshots, agentStream(state.agentId), -SNAPSHOT_EVERY).consider(
    state,
    state.revision,
  )

/** A run that waits for an approval, and the snapshot of its state there. */
async function waiting() {
  const snapshots = new One()
  const wipe = tool('wipe', { effect: 'irreversible' })
  const run = await given({
    says: [calls(call('wipe', { n: 1 })), completes()],
    tools: [wipe],
    spec: { policy: { requiresApproval: ['wipe'] } },
  })
  expect(await run.drive()).toMatchObject({ end: 'waiting' })
  const state = await run.state()
  const keep = (state: AgentState) => keepIn(snapshots, state)
  keep(state)
  return { ...run, wipe, state, keep, snapshots, ports: { ...run.ports, snapshots } }
}

type Place = { readonly [name: string]: Json }

/** Every value in it that has no parts, by its path. */
function leaves(value: Json, path: readonly string[] = []): (readonly string[])[] {
  const parts = value === null || typeof value !== 'object' ? [] : Object.entries(value)
  return parts.length === 0 ? [path] : parts.flatMap(([name, part]) => leaves(part, [...path, name]))
}

function altered(value: Json, [name, ...rest]: readonly string[]): Json {
  if (name === undefined) return typeof value === 'string' ? `${value}x` : 'x'
  const part = altered((value as Place)[name]!, rest)
  return Array.isArray(value) ? value.with(Number(name), part) : { ...(value as Place), [name]: part }
}

test('one that is whole is used, with the spec that the log tells', async () => {
  const run = await waiting()
  expect(JSON.stringify(run.snapshots.held)).not.toContain('requiresApproval')
  expect((await fromSnapshot(run.ports, run.runId, {}))?.state).toEqual(run.state)
})

test('so is that of a fork of a fork, with what was changed in each', async () => {
  const run = await waiting()
  const fork = async (of: string, changes: object) => {
    const { runId } = await run.runtime.fork(of, null, changes, { by: USER })
    return runId
  }
  const first = await fork(run.runId, { maxTurns: 7 })
  const second = await fork(first, { budget: { tokens: 5 } })
  const { state } = await run.runtime.at(second, null)
  expect(state.spec).toMatchObject({ limits: { maxTurns: 7 }, budget: { tokens: 5 } })
  run.keep(state)
  expect((await fromSnapshot(run.ports, second, {}))?.state).toEqual(state)
})

test('a state by its turn is folded from the snapshot before the end of that turn', async () => {
  const turns = 12
  const run = await given({
    says: [...Array.from({ length: turns }, (_, n) => calls(call('look', { n }))), completes()],
    tools: [tool('look')],
  })
  await run.drive()
  const stream = agentStream(run.runId)
  const events = (await Array.fromAsync(run.log.read(stream))).flat()
  const snapshots = new One()
  const ports = { ...run.ports, snapshots }
  const started = events.findLast(({ header }) => header.type === 'turn_start' && header.turn === 9)!.header.revision
  for (const [revision, isUsed] of [
    [started - 4, true],
    [started, true],
    [started + 3, true],
    // After the end of turn 9.
    [events.length - 1, false],
  ] as const) {
    const at = events.findLast(({ header }) => header.revision <= revision && header.digest !== undefined)!.header
      .revision
    const { state } = await agentStateAt(run.ports, run.runId, { revision: at })
    keepIn(snapshots, state)
    const from: number[] = []
    const log = replaced(run.log, 'read', (name, options = {}) => {
      if (options.bodies !== false) from.push(options.from ?? 0)
      return run.log.read(name, options)
    })
    const { state: found } = await agentStateAt({ ...ports, log }, run.runId, { turn: 9 })
    expect(snapshots.asked).toEqual({ revision: started })
    expect(found).toEqual((await agentStateAt(run.ports, run.runId, { turn: 9 })).state)
    expect(from.includes(at + 1), `snapshot at ${at}`).toBe(isUsed)
  }
})

describe('one that is not what was put in', () => {
  test('is not used, whichever value was altered', async () => {
    const run = await waiting()
    const whole = run.snapshots.held!
    const paths = leaves(whole.state as Json)
    expect(paths.length).toBeGreaterThan(60)
    for (const path of paths) {
      run.snapshots.held = { ...whole, state: altered(whole.state as Json, path) }
      expect(await fromSnapshot(run.ports, run.runId, {}), path.join('.')).toBe(null)
    }
    for (const state of [null, [], 'x', {}]) {
      run.snapshots.held = { ...whole, state }
      expect(await fromSnapshot(run.ports, run.runId, {})).toBe(null)
    }
  })

  test('is not used where an earlier program put it in: a bare state, or one with a sum over another shape', async () => {
    const run = await waiting()
    const { revision, step } = run.state
    const { spec: _, ...state } = JSON.parse(JSON.stringify(run.state))
    for (const kept of [run.state, { state }, { sum: sha256(canonicalText(state)), state }]) {
      run.snapshots.held = { revision, step, state: kept as never }
      expect(await fromSnapshot(run.ports, run.runId, {})).toBe(null)
    }
  })

  test('gives no permission: a spec in it counts for nothing', async () => {
    const run = await waiting()
    const free = {
      ...run.state,
      spec: { ...run.state.spec, policy: { ...run.state.spec.policy, requiresApproval: [] } },
    }
    expect(digestOf(free)).toBe(digestOf(run.state))
    run.keep(free)
    const found = await fromSnapshot(run.ports, run.runId, {})
    expect(found?.state.spec.policy.requiresApproval).toEqual(['wipe'])
  })
})
