import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GOLDEN, newestOf, record, recorded, recording } from './golden/files.ts'
import { HISTORIES } from './golden/histories.ts'
import { externalShapes, shapes } from './golden/shapes.ts'

// node test/support/record-golden.ts: adds what this program records to what older ones have recorded. Recorded files are
// never changed by hand: a shape that changes gets a new version and an upcaster, a fold that changes a new FOLD, requests
// that are put together otherwise a new ASSEMBLER, tables that mean something else a new MEANING.

mkdirSync(GOLDEN, { recursive: true })
for (const [name, now] of [
  ['shapes.json', shapes()],
  ['external-shapes.json', externalShapes()],
] as const) {
  const file = join(GOLDEN, name)
  const known = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>) : {}
  writeFileSync(file, `${JSON.stringify({ ...now, ...known }, null, 2)}\n`)
}

/** Histories that are named on the command line; all where none is. */
const [, , ...only] = process.argv

const all = recorded()
for (const [name, tell] of Object.entries(HISTORIES)) {
  if (only.length > 0 && !only.includes(name)) continue
  const folder = mkdtempSync(join(tmpdir(), 'keepup-golden-'))
  const made = await recording(await tell(), folder)
  rmSync(folder, { recursive: true })
  const last = newestOf(all, name)
  if (last?.text === made.text && JSON.stringify(last.told) === JSON.stringify(made.told)) continue
  const number = (last?.number ?? 0) + 1
  record({ name, number, ...made })
  console.log(`${name}.${number}`)
}
