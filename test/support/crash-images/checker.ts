import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Findings, Said } from './scenario.ts'
import { SCENARIOS } from './scenarios.ts'

// A process that opens what programs left in a folder, one image after the other.

/** Asks for a check of the folder. */
export interface Question {
  readonly scenario: string
  readonly root: string
  readonly said: Said
}

/** `open`: the number of open files afterwards. */
export interface Answer extends Findings {
  readonly open: number
}

process.on('message', async ({ scenario, root, said }: Question) => {
  process.env.XDG_CONFIG_HOME = join(root, '.config')
  const place = { root, data: join(root, 'data'), workspace: join(root, 'ws') }
  const findings = await SCENARIOS.find(({ name }) => name === scenario)!
    .check(place, said)
    .catch((error: Error): Findings => ({ lost: [], named: [`the check failed: ${error.stack}`] }))
  process.send!({ ...findings, open: readdirSync('/proc/self/fd').length } satisfies Answer)
})
process.once('disconnect', () => process.exit())
