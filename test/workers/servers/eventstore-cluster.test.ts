import { expect, test } from 'vitest'
import type { EventStoreLog } from '../../../adapters/eventstore/log.ts'
import type { SealedEvent } from '../../../domain/log/envelope.ts'
import { code } from '../../contracts/event-log-factory.ts'
import type { StandInCluster } from '../../support/eventstore/cluster.ts'
import { openLog, standInCluster } from '../../support/eventstore/logs.ts'
import { collect, NEW, Sealer, type Tip, tipOf } from '../../support/log/sealing.ts'

const writers = ['agent-a', 'agent-b', 'agent-c', 'agent-d']

/** Four writers that never stop, and one that follows all. */
async function busy(cluster: StandInCluster) {
  const log = await openLog(cluster.url)
  const sent = new Map<string, SealedEvent[]>(writers.map((name) => [name, []]))
  const seen: string[] = []
  const stop = new AbortController()
  let acknowledged = 0
  const after = await log.headCursor()
  const work = writers.map(async (stream) => {
    const sealer = new Sealer(stream)
    let tip: Tip = NEW
    while (!stop.signal.aborted) {
      const batch = sealer.batch(stream, tip, [{}, {}])
      await log.append(stream, tip.revision, batch)
      sent.get(stream)!.push(...batch)
      tip = tipOf(batch)
      acknowledged++
    }
  })
  const following = new AbortController()
  const followed = (async () => {
    for await (const page of log.subscribe(after, following.signal)) seen.push(...page.map(({ id }) => id))
  })()
  const ok = Promise.all([...work, followed])
  ok.catch(() => undefined)
  /** Each writer goes on. */
  const goesOn = async () => {
    const before = acknowledged
    await expect.poll(() => acknowledged).toBeGreaterThan(before + 2 * writers.length)
  }
  const end = async () => {
    stop.abort()
    await Promise.all(work)
    const all = [...sent.values()].flat().map(({ id }) => id)
    await expect.poll(() => seen.length).toBeGreaterThanOrEqual(all.length)
    following.abort()
    await followed
    expect([...seen].sort()).toEqual(all.sort())
    await expectWhole(log, sent)
    const stored = cluster.store.all.filter(({ stream }) => stream.startsWith('ns.agent-'))
    expect(stored).toHaveLength(all.length)
  }
  await goesOn()
  return { log, goesOn, end }
}

async function expectWhole(log: EventStoreLog, sent: ReadonlyMap<string, readonly SealedEvent[]>) {
  for (const [name, events] of sent)
    expect((await collect(log.read(name))).map(({ id }) => id)).toEqual(events.map(({ id }) => id))
}

test('the leader is killed: writing goes on, nothing is lost or twice', async () => {
  const cluster = await standInCluster()
  const { goesOn, end } = await busy(cluster)
  await cluster.nodes[0]!.kill()
  cluster.elect(1)
  await goesOn()
  await cluster.nodes[0]!.start()
  await cluster.nodes[1]!.kill()
  cluster.elect(2)
  await goesOn()
  await end()
})

test('the leader hangs: writing goes on elsewhere, also when it wakes up again', async () => {
  const cluster = await standInCluster()
  const { goesOn, end } = await busy(cluster)
  cluster.nodes[0]!.freeze()
  // Gossip still names it until another node is elected.
  const { accepted } = cluster.nodes[0]!
  await expect.poll(() => cluster.nodes[0]!.accepted).toBeGreaterThan(accepted)
  cluster.elect(1)
  await goesOn()
  cluster.nodes[0]!.thaw()
  await goesOn()
  // Whatever of the clients before still hung there ends now, and takes nothing with it.
  await cluster.nodes[0]!.kill()
  await goesOn()
  await end()
})

test('when another node leads, reads move to it, and the end of the former leader breaks no read', async () => {
  const cluster = await standInCluster()
  const { log, goesOn, end } = await busy(cluster)
  cluster.elect(1)
  for (const name of writers) expect(await log.head(name)).not.toBeNull()
  await goesOn()
  // Calls left on the former leader would fail together with calls in flight elsewhere.
  await cluster.nodes[0]!.kill()
  await goesOn()
  await end()
})

test('without a quorum an append is refused; with a quorum appends go on', async () => {
  const cluster = await standInCluster()
  const { goesOn, end } = await busy(cluster)
  cluster.losesQuorum()
  const { appends } = cluster.nodes[0]!.asked
  await expect.poll(() => cluster.nodes[0]!.asked.appends).toBeGreaterThan(appends + 4)
  for (const node of cluster.nodes) node.drop()
  // By now a search for the leader has failed, which the client would never forget.
  const { gossips } = cluster.nodes[2]!.asked
  await expect.poll(() => cluster.nodes[2]!.asked.gossips).toBeGreaterThan(gossips + 20)
  cluster.elect(2)
  await goesOn()
  await end()
})

test('a cluster without a leader at the start says so', async () => {
  const cluster = await standInCluster()
  cluster.losesQuorum()
  const limits = { callMs: 300, patienceMs: 500, silenceMs: 100 }
  await expect(openLog(cluster.url, { limits })).rejects.toEqual(code('LOG_UNAVAILABLE'))
})

test('an acknowledged event is read, also by a client whose node is a follower behind by now', async () => {
  const cluster = await standInCluster()
  const log = await openLog(cluster.url)
  const batch = new Sealer().batch('agent-a', NEW, [{}, {}])
  await log.append('agent-a', -1, batch.slice(0, 1))
  const before = await log.headCursor()
  await log.append('agent-a', 0, batch.slice(1))
  const last = cluster.store.all.at(-1)!
  const at = (position: number) => {
    for (const node of cluster.nodes) node.switches.lagsFrom = position
  }
  let leads = 0
  const electAnother = () => cluster.elect(++leads % 3)
  at(last.position)
  electAnother()
  expect(await collect(log.read('agent-a'))).toHaveLength(2)
  electAnother()
  expect(await log.head('agent-a')).toMatchObject({ revision: 1 })
  // A reader that does not know the end of the log yet.
  const other = await openLog(cluster.url)
  at(0)
  electAnother()
  expect(await other.headCursor()).toMatchObject({ position: last.position })
  at(last.position)
  electAnother()
  expect((await collect(log.readAll(before))).map(({ id }) => id)).toEqual([last.id])
  // Another one leads as soon as the log was found to be the same one.
  for (const node of cluster.nodes) {
    node.switches.answered = () => {
      for (const one of cluster.nodes) one.switches.answered = () => undefined
      electAnother()
    }
  }
  expect((await collect(log.readAll(before))).map(({ id }) => id)).toEqual([last.id])
  // Not every node has the event of the cursor.
  at(before.position)
  electAnother()
  expect((await collect(log.readAll(before))).map(({ id }) => id)).toEqual([last.id])
})

test('a node that is cut off from the others is left', async () => {
  const cluster = await standInCluster()
  const { goesOn, end } = await busy(cluster)
  cluster.elect(1)
  // It still answers, and knows of no leader.
  cluster.nodes[0]!.switches.notReady = true
  await goesOn()
  await end()
})
