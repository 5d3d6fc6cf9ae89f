import type { Bench, Case } from '../bench.ts'
import { inFreshProcess } from '../child.ts'
import { type Figure, most, ms, rate } from '../figure.ts'
import { median } from '../measure.ts'

// The state at a step, cold: each figure is the CPU of a process of its own, which has opened nothing before.

const CHILD = new URL('./state-child.ts', import.meta.url)

/** The figures of a cold process. Times in ms of CPU, the first from before the log is opened. */
export interface Cold {
  readonly stateMs: number
  readonly wholeMs: number
  /** Of the same state, asked for again, of steps each a little later, and of one near the beginning. */
  readonly againMs: number
  readonly nearMs: number
  readonly earlyMs: number
  readonly floorMs: number
  /** Bytes of the bodies that the whole state is made of. */
  readonly bytes: number
}

export const state: Case = {
  name: 'state',
  async run(bench: Bench): Promise<Figure[]> {
    const { data, agentId } = await bench.long()
    const cold: Cold[] = []
    for (let round = 0; round < (bench.quick ? 3 : 5); round++) {
      // Another step each time, and not one that a snapshot was made at.
      const step = 2 * bench.far - 2 * round * 31 - 21
      cold.push(await inFreshProcess<Cold>(CHILD, [data, agentId, String(step)]))
    }
    const megabytes = median(cold.map(({ bytes }) => bytes)) / 1e6
    const stateMs = median(cold.map((one) => one.stateMs))
    const wholeMs = median(cold.map((one) => one.wholeMs))
    const floorMs = median(cold.map((one) => one.floorMs))
    const repeated = (name: string, of: 'againMs' | 'nearMs' | 'earlyMs'): Figure => {
      const value = median(cold.map((one) => one[of]))
      return { name, ours: ms(value), floor: ms(wholeMs), value, goal: most(10, ' ms'), note: 'CPU; floor: cold' }
    }
    return [
      {
        name: `state at a step, cold, ${bench.far.toLocaleString('en-US')} turns, without bodies`,
        ours: ms(stateMs),
        floor: '',
        value: stateMs,
        goal: most(50, ' ms'),
        note: 'CPU',
      },
      {
        name: `whole, with messages (${megabytes.toFixed(1)} MB)`,
        ours: ms(wholeMs),
        floor: ms(floorMs),
        value: wholeMs / megabytes,
        goal: most(20, ' ms/MB'),
        note: `CPU; floor: JSON.parse of the same bodies, ${rate(megabytes / (floorMs / 1000), 'MB')}`,
      },
      repeated('the same, asked for again', 'againMs'),
      repeated('two steps later, again and again', 'nearMs'),
      repeated('a step near the beginning, again', 'earlyMs'),
    ]
  },
}
