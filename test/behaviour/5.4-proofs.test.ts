import { describe, expect, it } from 'vitest'
import { agent } from '../../domain/agent/decide/aggregate.ts'
import { verifyAgent } from '../../domain/agent/runtime/history/verify.ts'
import { agentStream } from '../../domain/log/ids.ts'
import { erase } from '../../domain/stream/runtime/erasure/erase.ts'
import { chained } from '../../domain/stream/sealing.ts'
import { MemoryBlobs, MemoryIntents, TestClock } from '../support/harness.ts'
import { treeSpec } from '../support/tree/plans.ts'
import { emptyLog, Recorded } from '../support/tree/recorded.ts'
import { play, ROOT } from '../support/tree/walk.ts'

const leaf = { rounds: [], ends: 'completes' } as const
const plan = { rounds: [{ children: [leaf, leaf], looks: 0 }], ends: 'completes' } as const

function told(blobs: readonly string[] = []) {
  const recorded = new Recorded({ blobs })
  const agents = play(plan, treeSpec(), [], undefined, {}, recorded)
  const [child] = [...agents.streams.keys()].filter((id) => id !== ROOT)
  return { recorded, child: child! }
}

describe('the proof of a parent', () => {
  it('holds where the streams of its children end as it has recorded', async () => {
    const { recorded, child } = told()
    const log = emptyLog()
    await recorded.into(log)
    for (const id of [ROOT, child])
      expect(await verifyAgent({ log, blobs: new MemoryBlobs() }, id)).toMatchObject({ ok: true, problems: [] })
  })

  it('names a child whose stream has lost its end, though the chain that is left holds by itself', async () => {
    const { recorded, child } = told()
    const log = emptyLog()
    const end = recorded.batches.findIndex(
      ({ stream, events }) =>
        stream === agentStream(child) && events.some(({ header }) => header.type === 'end_reported'),
    )
    for (const [nth, { stream, expected, events }] of recorded.batches.entries())
      if (nth < end || stream !== agentStream(child)) await log.append(stream, expected, events)
    const stores = { log, blobs: new MemoryBlobs() }
    expect(await verifyAgent(stores, child)).toMatchObject({ ok: true })
    const { ok, problems } = await verifyAgent(stores, ROOT)
    expect(ok).toBe(false)
    expect(problems).toEqual([
      {
        revision: expect.any(Number),
        code: 'CHILD',
        message: expect.stringContaining(`the agent ${child} has no revision`),
      },
    ])
  })

  it('names a child whose end was written anew', async () => {
    const { recorded, child } = told()
    const log = emptyLog()
    let previous: { revision: number; hash: string } | null = null
    for (const { stream, expected, events } of recorded.batches) {
      if (stream !== agentStream(child)) {
        await log.append(stream, expected, events)
        continue
      }
      // The same events a second later: another chain, which is sound.
      const later = events.map(({ header, body }) => {
        const { format: _, stream: __, revision: ___, body: about, minReader: ____, ...rest } = header
        const timestamp = new Date(Date.parse(header.timestamp) + 1_000).toISOString()
        return { header: { ...rest, timestamp }, body: { header: about, bytes: body! } }
      })
      const sealed: readonly (typeof events)[number][] = chained(stream, previous, later as never, new Set())
      previous = { revision: sealed.at(-1)!.header.revision, hash: sealed.at(-1)!.hash }
      await log.append(stream, expected, sealed)
    }
    const { problems } = await verifyAgent({ log, blobs: new MemoryBlobs() }, ROOT)
    expect(problems).toMatchObject([{ code: 'CHILD', message: expect.stringContaining('has another event at') }])
  })
})

it('an erasure of all that the root says leaves the bodies of its children in the blob store', async () => {
  const { recorded, child } = told(['model_call_end'])
  const [log, blobs] = [emptyLog(), new MemoryBlobs()]
  await recorded.store(blobs)
  await recorded.into(log)
  const asker = { by: { kind: 'user', id: 'ann' } as const, commandId: 'erasing' }
  const ports = {
    log,
    blobs,
    intents: new MemoryIntents(),
    clock: new TestClock(),
    random: { bytes: (n: number) => new Uint8Array(n) },
  }
  await erase(ports as never, agent, agentStream(ROOT), { all: true, reason: 'private' }, asker, {
    forget: async () => undefined,
  })
  expect(await verifyAgent({ log, blobs }, child)).toMatchObject({ ok: true, erased: [], problems: [] })
  expect((await verifyAgent({ log, blobs }, ROOT)).erased.length).toBeGreaterThan(0)
})
