import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { FileBlobs } from '../../../adapters/files/blobs/store.ts'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import { SqliteTreeStore } from '../../../adapters/sqlite/tree-store.ts'
import { paths } from '../../../api/process/host/paths.ts'
import { verifyAgent } from '../../../domain/agent/runtime/history/verify.ts'
import { verifyHeads } from '../../../domain/proof/runtime/verify-heads.ts'
import type { Bench, Case } from '../bench.ts'
import { inFreshProcess } from '../child.ts'
import { openEmbedded } from '../embedded.ts'
import { type Figure, least, megabytes, most, ms, rate } from '../figure.ts'
import { median, Pairs, paired, timed } from '../measure.ts'

// What the tree and its signed heads add to a durable turn, and how fast a log is verified against them.

const CHILD = new URL('./proof-child.ts', import.meta.url)
const TURNS = 300

/** The same run with and without the tree, in alternating rounds. The first round is warm-up. */
async function share(bench: Bench): Promise<Figure> {
  const pairs = new Pairs()
  const run = async (signed: boolean) => {
    const data = join(bench.folder, `proof-${signed}`)
    const took = await timed(async () => {
      const embedded = await openEmbedded(data, { signed })
      await embedded.run(TURNS)
      await embedded.shown()
      await embedded.close()
    })
    rmSync(data, { recursive: true })
    return took
  }
  const rounds = bench.quick ? 3 : 11
  for (let round = 0; round <= rounds; round++) {
    const first = await run(round % 2 === 0)
    const second = await run(round % 2 === 1)
    if (round > 0) pairs.add(round % 2 === 0 ? first : second, round % 2 === 0 ? second : first)
  }
  const { ours, floor, ratio } = pairs.of('cpuMs')
  const ratios = pairs.ours.map((took, at) => took.cpuMs / pairs.floor[at]!.cpuMs)
  const range = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`
  return {
    name: 'CPU of a durable turn with signed heads',
    ours: ms(ours / TURNS),
    floor: ms(floor / TURNS),
    value: ratio,
    goal: most(1.05, ' ×'),
    note: `floor: without tree and heads; ${range}`,
  }
}

/** Verification of the long run: its stream, event by event, and the heads of the whole log. */
async function verification(bench: Bench): Promise<Figure> {
  const { data, agentId } = await bench.long()
  const at = paths(data)
  const log = await openSqliteLog({ folder: at.log, mode: 'reader' })
  const blobs = new FileBlobs(at.blobs)
  const store = new SqliteTreeStore(at.tree, 'reader', (...range) => log.hashes(...range))
  let events = 0
  const heads = async () => {
    const verified = await verifyHeads({ log, blobs, store, acceptedLosses: [] })
    if (!verified.ok || verified.signed === 0) throw new Error(`the heads do not verify: ${JSON.stringify(verified)}`)
    events = verified.events
  }
  const chain = () => verifyAgent({ log, blobs }, agentId)
  const pairs = await paired(bench.quick ? 2 : 3, heads, chain)
  await log.close()
  store.close()
  const { ours, floor } = pairs.of('cpuMs')
  const value = events / (ours / 1000)
  return {
    name: 'heads verified',
    ours: rate(value, 'ev'),
    floor: rate(events / (floor / 1000), 'ev'),
    value,
    goal: least(60_000, ' ev/s'),
    note: 'per CPU second, read from the file; floor: verification of the chain and all digests',
  }
}

/** The memory of a fresh process that verifies the heads of a log. */
async function memory(bench: Bench): Promise<Figure> {
  const [few, many] = bench.quick ? [20_000, 200_000] : [100_000, 1_000_000]
  const peak = async (events: number) => {
    const data = join(bench.folder, `proof-${events}`)
    const rounds = []
    for (let round = 0; round < (bench.quick ? 1 : 3); round++)
      rounds.push((await inFreshProcess<{ bytes: number }>(CHILD, [data, String(events)])).bytes)
    rmSync(data, { recursive: true })
    return median(rounds)
  }
  const [small, large] = [await peak(few), await peak(many)]
  return {
    name: `memory to verify heads, ${many.toLocaleString('en-US')} events`,
    ours: megabytes(large),
    floor: megabytes(small),
    value: large / small,
    goal: most(1.1, ' ×'),
    note: `floor: ${few.toLocaleString('en-US')} events`,
  }
}

export const proof: Case = {
  name: 'proof',
  run: async (bench) => [await share(bench), await verification(bench), await memory(bench)],
}
