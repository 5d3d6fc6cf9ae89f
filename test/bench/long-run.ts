import { join } from 'node:path'
import { fileOf } from '../../adapters/sqlite/log/connection.ts'
import { paths } from '../../api/process/host/paths.ts'
import { openEmbedded } from './embedded.ts'
import { type Append, appendsAfter, BareWriter, type Took } from './floor/writer.ts'

/** A stretch of a run, with what the bare writer took for the very same rows right after it. */
export interface Stretch {
  /** The last turn of it. */
  readonly to: number
  readonly turns: number
  readonly events: number
  readonly ours: Took
  /** Null: the stretch was not written a second time. */
  readonly floor: Took | null
  readonly rss: number
}

export interface LongRun {
  readonly data: string
  readonly agentId: string
  readonly turns: number
  readonly stretches: readonly Stretch[]
}

export interface RunOptions {
  readonly turns: number
  /** Turns after which a stretch ends, beside every hundredth. */
  readonly stops?: readonly number[]
  /** Later stretches are not written by the floor. */
  readonly pairedUpTo?: number
}

/**
 * Runs an agent in a fresh data folder, stretch by stretch: at the end of each the agent's model is held, the tables catch
 * up, the clock stops, and the bare writer takes the rows that were appended.
 */
export async function runBesideFloor(data: string, options: RunOptions): Promise<LongRun> {
  const { turns, stops = [10], pairedUpTo = turns } = options
  const embedded = await openEmbedded(data)
  const floor = new BareWriter(join(data, '..', `${data.split('/').at(-1)}.floor.db`))
  const file = fileOf(paths(data).log)
  const stretches: Stretch[] = []
  let position = appendsAfter(file, 0).last
  let begun = 0
  let clock = start()

  const hold = async (turn: number): Promise<void> => {
    const done = turn - 1
    if (done === begun || !(done % 100 === 0 || stops.includes(done) || turn > turns)) return
    await embedded.shown()
    const ours = clock()
    const { appends, last } = appendsAfter(file, position)
    const before = done <= pairedUpTo ? await floor.each(appends) : null
    const rss = process.memoryUsage().rss
    stretches.push({ to: done, turns: done - begun, events: eventsIn(appends), ours, floor: before, rss })
    position = last
    begun = done
    clock = start()
  }
  const agentId = await embedded.run(turns, hold)
  await hold(turns + 1)
  await Promise.all([embedded.close(), floor.close()])
  return { data, agentId, turns, stretches }
}

const eventsIn = (appends: readonly Append[]) => appends.reduce((sum, { events }) => sum + events.length, 0)

function start(): () => Took {
  const cpu = process.cpuUsage()
  const from = performance.now()
  return () => {
    const ms = performance.now() - from
    const { user, system } = process.cpuUsage(cpu)
    return { ms, cpuMs: (user + system) / 1000 }
  }
}
