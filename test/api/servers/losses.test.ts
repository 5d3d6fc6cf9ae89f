import { expect, it, onTestFinished } from 'vitest'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { lossesOf } from '../../../api/process/host/losses/losses-of-log.ts'
import { lossOnServers, tablesBesideLoss } from '../../../api/process/servers/tables-beside-loss.ts'
import { readAcceptedLosses } from '../../../domain/agent/runtime/losses.ts'
import { AGGREGATES } from '../../../domain/kinds.ts'
import type { EventLog } from '../../../domain/ports/index.ts'
import { LogSigner } from '../../../domain/proof/runtime/log-signer.ts'
import { Streams } from '../../../domain/stream/runtime/streams.ts'
import { PostgresHome } from '../../../projections/engine/postgres/home.ts'
import { Projections } from '../../../projections/index.ts'
import { memoryKeys, memoryTree, noTree } from '../../support/attacks/memory-tree.ts'
import { call, calls, completes, harness, seededRandom, testSpec } from '../../support/harness.ts'
import { describeWithSharedPostgres } from '../../support/postgres/postgres.ts'
import { schemasOf } from '../../support/projections/postgres-kit.ts'
import { tool } from '../../support/story.ts'
import { VirtualClock } from '../../support/time/virtual-clock.ts'

const newLog = () => new MemoryLog({ random: seededRandom('one log'), clock: { now: () => 0 } })

/** The same log as it was when it held only so many events of a stream. */
async function restored(log: EventLog, stream: string, events: number): Promise<MemoryLog> {
  const older = newLog()
  for await (const page of log.read(stream, { limit: events })) await older.append(stream, -1, page)
  return older
}

describeWithSharedPostgres('tables in PostgreSQL that are newer than the log', (server) => {
  const schemas = schemasOf(server)

  it('hold the process to reading until a person accepts; then a call that began asks, and does not run again', async () => {
    const pay = tool('pay', { effect: 'irreversible' })
    const says = [calls(call('pay', { to: 'x' })), completes()]
    const log = newLog()
    const h = harness((_, n) => says[Math.min(n, says.length) - 1]!, { tools: [pay], log })
    const runId = await h.start(testSpec({}, [pay]))
    await h.drive(runId)
    const { blobs } = h.ports
    const home = new PostgresHome({ pool: schemas.pool(), schema: schemas.fresh() })
    await (await Projections.open({ home, log, blobs })).close()
    expect(await lossOnServers({ home, log, tree: null })).toBeNull()

    const answered = (await h.types(runId)).indexOf('model_call_end')
    const older = await restored(log, `agent-${runId}`, answered)
    await expect(Projections.open({ home, log: older, blobs })).rejects.toMatchObject({ code: 'LOG_OLDER' })
    const opened = async () => {
      const tables = await Projections.open({ home, log: older, blobs })
      onTestFinished(() => tables.close())
      return tables
    }
    const stores = { home, prompt: home, log: older, blobs, tree: null }
    const running = { open: opened, clock: new VirtualClock(), memory: { lost: null, settle: () => undefined } }
    const kept = await tablesBesideLoss(stores, running)
    const other = await tablesBesideLoss(stores, running)
    await other.look()
    expect(other.losses.gate.loss).not.toBeNull()
    const elsewhere = harness((_, n) => says[Math.min(n, says.length) - 1]!, { tools: [pay], log: kept.log, seed: 'b' })
    await expect(elsewhere.drive(runId)).rejects.toMatchObject({ code: 'LOG_SHORTENED' })
    expect(pay.ran).toHaveLength(1)

    const losses = lossesOf(kept.losses, { ...elsewhere.ports, log: older })
    const toolCallId = `${runId}.t1.c0`
    expect(await losses.look()).toMatchObject({
      streams: [{ runId, kept: answered - 1, calls: [{ toolCallId }, { toolName: 'complete_task' }] }],
    })
    const ann = { kind: 'user', id: 'ann' } as const
    const { id } = (await losses.look())!
    await expect(losses.accept('another', ann)).rejects.toMatchObject({ code: 'LOSS_CHANGED' })
    await losses.accept(id, ann)
    expect(losses.open).toBeNull()
    // Another process goes on without a restart once it has looked again.
    expect(other.losses.gate.loss).not.toBeNull()
    await other.look()
    expect(other.losses.gate.loss).toBeNull()
    expect((await other.tables.read(async () => null)).position).toEqual(await older.headCursor())
    expect(await losses.look()).toBeNull()
    expect(await elsewhere.drive(runId)).toEqual({ end: 'waiting', for: 'doubt', toolCallIds: [toolCallId] })
    await elsewhere.runtime.execute(
      runId,
      { kind: 'resolve_doubt', toolCallId, decision: 'happened' },
      { by: { kind: 'user', id: 'ann' } },
    )
    expect(await elsewhere.drive(runId)).toEqual({ end: 'done' })
    expect(pay.ran).toHaveLength(1)
  })

  it('are not needed where signed heads have seen the lost end: a start refuses until a person accepts', async () => {
    const h = harness(() => completes(), { log: newLog() })
    const runId = await h.start(testSpec({}))
    await h.drive(runId)
    const { log, blobs } = h.ports
    const home = new PostgresHome({ pool: schemas.pool(), schema: schemas.fresh() })
    const tree = memoryTree(noTree())
    const { clock, random } = h.ports
    const streams = new Streams({ log, blobs, clock, random, hide: async (value) => value }, AGGREGATES)
    const signer = new LogSigner({
      ...{ log, store: tree, keys: memoryKeys([]), streams, clock, random, origin: 'example.org/log' },
      ...{ acceptedLosses: async () => 0, shared: true, warn: () => undefined },
    })
    await signer.sign()
    const last = (await Array.fromAsync(log.readAll(null))).flat().at(-1)!
    expect(await lossOnServers({ home, log, tree })).toBeNull()

    const older = await restored(log, `agent-${runId}`, 3)
    const seen = { position: last.position, hash: last.hash }
    expect(await lossOnServers({ home, log: older, tree })).toMatchObject({ tables: null, heads: seen })
    const opened = async () => {
      const tables = await Projections.open({ home, log: older, blobs })
      onTestFinished(() => tables.close())
      return tables
    }
    const stores = { home, prompt: home, log: older, blobs, tree }
    const running = { open: opened, clock: new VirtualClock(), memory: { lost: null, settle: () => undefined } }
    const kept = await tablesBesideLoss(stores, running)
    expect(() => kept.mustRecord()).toThrow(expect.objectContaining({ code: 'LOG_SHORTENED' }))
    const losses = lossesOf(kept.losses, { ...h.ports, log: older })
    const { id, heads } = (await losses.look())!
    expect(heads).toEqual(seen)
    await losses.accept(id, { kind: 'user', id: 'ann' })
    expect([losses.open, await tree.load(), await lossOnServers(stores)]).toEqual([null, null, null])
    // The identity of the log, and the events of the run that are left.
    expect(await readAcceptedLosses(older)).toMatchObject([{ mark: seen, kept: 1 + 3 }])
  })
})
