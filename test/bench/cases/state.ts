import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Bench, Case } from '../bench.ts'
import { type Figure, most, ms, rate } from '../figure.ts'
import { median } from '../measure.ts'

// The state at a step, cold: each figure is the CPU of a process of its own, which has opened nothing before.

const run = promisify(execFile)
const CHILD = fileURLToPath(new URL('./state-child.ts', import.meta.url))

/** The figures of a cold process. Times in ms of CPU, the first from before the log is opened. */
export interface Cold {
  readonly stateMs: number
  readonly wholeMs: number
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
      const step = 2 * bench.far - 2 * round * 31 - 1
      const { stdout } = await run(process.execPath, [CHILD, data, agentId, String(step)])
      cold.push(JSON.parse(stdout) as Cold)
    }
    const megabytes = median(cold.map(({ bytes }) => bytes)) / 1e6
    const stateMs = median(cold.map((one) => one.stateMs))
    const wholeMs = median(cold.map((one) => one.wholeMs))
    const floorMs = median(cold.map((one) => one.floorMs))
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
    ]
  },
}
