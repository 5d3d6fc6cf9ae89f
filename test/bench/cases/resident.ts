import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench, Case } from '../bench.ts'
import { inFreshProcess } from '../child.ts'
import { type Figure, megabytes, most } from '../figure.ts'
import { median } from '../measure.ts'

// Resident memory, each time of a fresh process with the flags of the program's start, against one that has opened a folder.

// `npm run bench` compiles the program, because Node keeps 20 MB and more for types that it takes out of sources.
const CHILD = new URL('../../../dist/test/bench/cases/resident-child.js', import.meta.url)
/** See api/cli/keepup.js. */
const FLAGS = ['--max-semi-space-size=8']
const TURNS = 1_000

export const resident: Case = {
  name: 'resident',
  async run(bench: Bench) {
    if (!existsSync(CHILD))
      throw new Error('resident memory is that of the compiled package; measure it by npm run bench')
    const held = { none: [] as number[], one: [] as number[], many: [] as number[] }
    for (let round = 0; round < (bench.quick ? 1 : 3); round++)
      for (const [which, found] of Object.entries(held)) {
        const data = join(bench.folder, `resident-${which}`)
        const given = which === 'none' ? ['one', '1'] : [which, String(TURNS)]
        found.push((await inFreshProcess<{ bytes: number }>(CHILD, [data, ...given], FLAGS)).bytes)
        rmSync(data, { recursive: true })
      }
    const figure = (name: string, found: readonly number[], bound: number): Figure => ({
      name: `resident memory, ${name}`,
      ours: megabytes(median(found)),
      floor: megabytes(median(held.none)),
      value: median(found) / 1e6,
      goal: most(bound, ' MB'),
      note: 'of a fresh process; floor: one run of one turn',
    })
    return [
      figure(`one run of ${TURNS.toLocaleString('en-US')} turns`, held.one, 190),
      figure('100 runs × 20 turns, 32 at once', held.many, 250),
    ]
  },
}
