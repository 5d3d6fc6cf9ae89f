import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Bench, Case } from '../bench.ts'
import { openEmbedded } from '../embedded.ts'
import { type Figure, most, ms } from '../figure.ts'
import { median } from '../measure.ts'

// How long a command of the packed program takes, from the start of its process to its end, beside Node that does nothing.

const PROGRAM = fileURLToPath(new URL('../../../dist/api/cli/keepup.js', import.meta.url))

const COMMANDS = [
  { args: ['--version'], bound: 80 },
  { args: ['runs', 'list'], bound: 200 },
  { args: ['events', 'RUN'], bound: 200 },
] as const

export const starts: Case = {
  name: 'starts',
  async run(bench: Bench) {
    if (!existsSync(PROGRAM)) {
      process.stderr.write('starts: not measured, there is no packed program; make it: npm run pack\n')
      return []
    }
    const data = join(bench.folder, 'starts')
    const embedded = await openEmbedded(data)
    const runId = await embedded.run(5)
    await embedded.shown()
    await embedded.close()
    const env = { ...process.env, KEEPUP_DATA: data, NODE_COMPILE_CACHE: join(bench.folder, 'compiled') }
    const took = (args: readonly string[]): number => {
      const from = performance.now()
      const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
      if (status !== 0) throw new Error(`the measured command ${args.join(' ')} failed: ${stderr}`)
      return performance.now() - from
    }
    return COMMANDS.map(({ args, bound }): Figure => {
      const given = args.map((arg) => (arg === 'RUN' ? runId : arg))
      const [ours, floor]: [number[], number[]] = [[], []]
      // The first start compiles what the later ones find compiled.
      for (let round = 0; round <= 2 * bench.rounds; round++) {
        const [command, bare] = [took([PROGRAM, ...given]), took(['-e', '0'])]
        if (round === 0) continue
        ours.push(command)
        floor.push(bare)
      }
      return {
        name: `keepup ${args.join(' ')}`,
        ours: ms(median(ours)),
        floor: ms(median(floor)),
        value: median(ours),
        goal: most(bound, ' ms'),
        note: 'floor: Node that does nothing',
      }
    })
  },
}
