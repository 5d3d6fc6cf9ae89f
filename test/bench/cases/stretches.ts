import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { FileBlobs } from '../../../adapters/files/blobs/store.ts'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import { openVault } from '../../../adapters/vault/file-vault.ts'
import { exportRun } from '../../../api/operations/events/export.ts'
import { blameApart, patchApart } from '../../../api/operations/files/diff/threaded-diff.ts'
import { SystemClock } from '../../../api/process/host/clock.ts'
import { paths } from '../../../api/process/host/paths.ts'
import { systemRandom } from '../../../api/process/host/random.ts'
import { openBoundary } from '../../../api/process/host/secret-boundary.ts'
import { compareRunHistories } from '../../../domain/agent/runtime/history/compare.ts'
import { agentAt } from '../../../domain/agent/runtime/history/replay.ts'
import { verifyAgent } from '../../../domain/agent/runtime/history/verify.ts'
import { AgentMailbox } from '../../../domain/agent/runtime/mailbox.ts'
import { Policy } from '../../../domain/calls/policy-schema.ts'
import { withWhole } from '../../../domain/calls/runtime/whole-result.ts'
import type { Bench, Case } from '../bench.ts'
import { type Figure, most, ms } from '../figure.ts'
import { median } from '../measure.ts'

// How long the event loop is held at most by work on inputs of ten times the usual size: the CPU of this thread between two
// turns of the loop, so that a busy machine changes little.

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** The most CPU of this thread between two turns of the event loop while some work is done. */
async function stretchOf(work: () => Promise<unknown>): Promise<number> {
  await new Promise(setImmediate)
  let [last, longest, over] = [cpuMs(), 0, false]
  const look = () => {
    const now = cpuMs()
    longest = Math.max(longest, now - last)
    last = now
    if (!over) setImmediate(look)
  }
  setImmediate(look)
  await work()
  over = true
  look()
  return longest
}

/** The middle of a few rounds: the collection of garbage holds others up as well, but not that of what was before. */
async function figure(name: string, rounds: number, work: () => Promise<unknown>): Promise<Figure> {
  const found: number[] = []
  for (let round = 0; round < rounds; round++) found.push(await stretchOf(work))
  const note = `CPU; ${ms(Math.min(...found))} to ${ms(Math.max(...found))}`
  return { name, ours: ms(median(found)), floor: '', value: median(found), goal: most(50, ' ms'), note }
}

const lines = Array.from({ length: 4_000 }, (_, n) => `line ${n} of a text\n`)
const shuffled = (by: number) => lines.map((_, n) => lines[(n * 7919 + by) % lines.length]!).join('')
const secretive = (count: number) =>
  Array.from({ length: count }, (_, n) => `token=ghp_${(n * 7919).toString(36).padStart(36, 'a')} ${n}\n`).join('')

export const stretches: Case = {
  name: 'stretches',
  async run(bench: Bench): Promise<Figure[]> {
    const { data, agentId } = await bench.long()
    const [log, blobs] = [
      await openSqliteLog({ folder: paths(data).log, mode: 'reader' }),
      new FileBlobs(paths(data).blobs),
    ]
    const stores = { log, blobs }
    const [clock, random] = [new SystemClock(), systemRandom]
    const dataFolder = join(bench.folder, 'stretches')
    mkdirSync(dataFolder, { recursive: true, mode: 0o700 })
    const vault = await openVault({ dataFolder, env: {} })
    const { secrets } = await openBoundary(vault, ['hunter2-hunter2'], { secrets: [], policy: Policy.parse({}) })
    const { rounds } = bench
    const of = (name: string, work: () => Promise<unknown>, times = rounds) => figure(name, times, work)
    const size = bench.quick ? '1,000 turns' : '14,300 turns'
    try {
      return [
        await of(`loop held: messages of ${size}`, () =>
          new AgentMailbox(agentId, { ...stores, clock, random }).loadMessages(),
        ),
        await of(`loop held: state of ${size}`, () => agentAt(stores, agentId, null)),
        await of(`loop held: proof of ${size}`, () => verifyAgent(stores, agentId)),
        await of(`loop held: export of ${size}`, async () => {
          for await (const _ of exportRun(log, blobs, agentId, [agentId]));
        }),
        await of(`loop held: comparison of ${size}`, () => compareRunHistories(stores, agentId, agentId)),
        await of('loop held: output of 7 MB with 100,000 secrets', async () => {
          await withWhole({ clock, random }, secrets, { content: '', whole: secretive(100_000) }, undefined)
          await secrets.keep()
        }),
        await of('loop held: patch of 80 KB that differ wholly', () => patchApart('f', shuffled(0), shuffled(13))),
        await of('loop held: who wrote 4,000 lines, 6 versions', () => blameApart([0, 1, 2, 3, 4, 5].map(shuffled)), 1),
      ]
    } finally {
      await log.close()
    }
  },
}
