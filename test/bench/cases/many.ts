import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileOf } from '../../../adapters/sqlite/log/connection.ts'
import { paths } from '../../../api/process/host/paths.ts'
import type { Bench, Case } from '../bench.ts'
import { type Embedded, openEmbedded } from '../embedded.ts'
import { type Figure, least, micros, most, ms, rate } from '../figure.ts'
import { type Append, appendsAfter, BareWriter } from '../floor/writer.ts'
import { Pairs, timed } from '../measure.ts'

// Many runs at once against a bare writer that commits in groups what waits.

const RUNS = 100
const TURNS = 20
const AT_ONCE = 32

/** All runs, so many at once. */
export async function manyRuns(embedded: Embedded): Promise<void> {
  let left = RUNS
  const loop = async () => {
    while (left-- > 0) await embedded.run(TURNS)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, loop))
}

export const many: Case = {
  name: 'many',
  async run(bench: Bench): Promise<Figure[]> {
    const pairs = new Pairs()
    let events = 0
    for (let round = 0; round <= (bench.quick ? 1 : 3); round++) {
      const data = join(bench.folder, `many-${round}`)
      const embedded = await openEmbedded(data)
      const file = fileOf(paths(data).log)
      const before = appendsAfter(file, 0).last
      const ours = await timed(async () => {
        await manyRuns(embedded)
        await embedded.shown()
      })
      const { appends } = appendsAfter(file, before)
      const writer = new BareWriter(join(bench.folder, `many-${round}.floor.db`))
      const floor = await writer.streams(byStream(appends), AT_ONCE)
      await Promise.all([embedded.close(), writer.close()])
      rmSync(data, { recursive: true })
      events = appends.reduce((sum, append) => sum + append.events.length, 0)
      if (round > 0) pairs.add(ours, floor)
    }
    const wall = pairs.of('ms')
    const cpu = pairs.of('cpuMs')
    const turns = RUNS * TURNS
    return [
      {
        name: `${RUNS} runs × ${TURNS} turns, ${AT_ONCE} at once`,
        ours: rate((turns * 1000) / wall.ours, 'turns'),
        floor: rate((turns * 1000) / wall.floor, 'turns'),
        value: (turns * 1000) / wall.ours,
        goal: least(1_000, ' turns/s'),
      },
      {
        name: 'CPU per event, many runs',
        ours: micros((cpu.ours * 1000) / events),
        floor: micros((cpu.floor * 1000) / events),
        value: cpu.ratio,
        goal: null,
      },
      {
        name: `CPU of a durable turn, all threads, ${AT_ONCE} at once`,
        ours: ms(cpu.ours / turns),
        floor: ms(cpu.floor / turns),
        value: cpu.ours / turns,
        goal: most(1.8, ' ms'),
      },
    ]
  },
}

function byStream(appends: readonly Append[]): Append[][] {
  const streams = new Map<number, Append[]>()
  for (const append of appends) {
    const stream = streams.get(append.stream)
    if (stream) stream.push(append)
    else streams.set(append.stream, [append])
  }
  return [...streams.values()]
}
