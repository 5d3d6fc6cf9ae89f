import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileOf } from '../../../adapters/log-sqlite/file.ts'
import { paths } from '../../../api/host/paths.ts'
import type { Bench, Case } from '../bench.ts'
import { openEmbedded } from '../embedded.ts'
import { type Figure, least, megabytes, micros, most, rate } from '../figure.ts'
import { type Append, appendsAfter, BareWriter } from '../floor/writer.ts'
import { Pairs, timed } from '../measure.ts'

// Many runs at once against a bare writer that commits in groups what waits.

const RUNS = 100
const TURNS = 20
const AT_ONCE = 32

export const many: Case = {
  name: 'many',
  async run(bench: Bench): Promise<Figure[]> {
    const pairs = new Pairs()
    let events = 0
    let rss = 0
    const floorRss = process.memoryUsage().rss
    for (let round = 0; round <= (bench.quick ? 1 : 3); round++) {
      const data = join(bench.folder, `many-${round}`)
      const embedded = await openEmbedded(data)
      const file = fileOf(paths(data).log)
      const before = appendsAfter(file, 0).last
      const ours = await timed(async () => {
        let left = RUNS
        const loop = async () => {
          while (left-- > 0) await embedded.run(TURNS)
        }
        await Promise.all(Array.from({ length: AT_ONCE }, loop))
      })
      rss = process.memoryUsage().rss
      await embedded.shown()
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
    const turns = RUNS * TURNS * 1000
    return [
      {
        name: `${RUNS} runs × ${TURNS} turns, ${AT_ONCE} at once`,
        ours: rate(turns / wall.ours, 'turns'),
        floor: rate(turns / wall.floor, 'turns'),
        value: turns / wall.ours,
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
        name: `resident memory, ${AT_ONCE} at once`,
        ours: megabytes(rss),
        floor: megabytes(floorRss),
        value: rss / 1e6,
        goal: most(250, ' MB'),
        note: 'of this process, with the cases before; floor: before the runs',
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
