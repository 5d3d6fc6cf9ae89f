import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FOLD } from '../../domain/agent/digest.ts'
import { GOLDEN_PLANS } from './golden-plans.ts'
import { shapes } from './golden-shapes.ts'
import { World } from './world.ts'

// node test/support/record-golden.ts: adds what this program's format is to what older ones have recorded. Recorded lines are
// never changed by hand: a shape that changes gets a new version and an upcaster, a fold that changes a new FOLD.

const here = join(import.meta.dirname, '../golden')
const shapesFile = join(here, 'shapes.json')
const known = existsSync(shapesFile) ? (JSON.parse(readFileSync(shapesFile, 'utf8')) as Record<string, string>) : {}
writeFileSync(shapesFile, `${JSON.stringify({ ...shapes(), ...known }, null, 2)}\n`)

for (const [name, plan] of Object.entries(GOLDEN_PLANS)) {
  const file = join(here, `${name}.fold${FOLD}.jsonl`)
  if (existsSync(file)) continue
  const world = new World(plan)
  await world.live()
  const lines: string[] = []
  for await (const page of world.log.read(`agent-${world.runId}`)) {
    for (const { header, body, hash } of page)
      lines.push(JSON.stringify({ header, hash, body: body && Buffer.from(body).toString('utf8') }))
  }
  writeFileSync(file, `${lines.join('\n')}\n`)
}
