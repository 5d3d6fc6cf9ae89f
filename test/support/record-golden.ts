import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GOLDEN, newestOf, record, recorded, recording, rowsKnownTo } from './golden/files.ts'
import { HISTORIES } from './golden/histories.ts'
import { externalShapes, otherShapes, shapes } from './golden/shapes.ts'

// node test/support/record-golden.ts: adds this program's recordings to the older ones. Never change recorded files by
// hand. A changed shape needs a new version and an upcaster, a changed fold a new FOLD, changed requests a new
// ASSEMBLER, and tables with another meaning a new ROW_MEANING.

mkdirSync(GOLDEN, { recursive: true })
for (const [name, now] of [
  ['shapes.json', shapes()],
  ['external-shapes.json', externalShapes()],
  ['other-shapes.json', otherShapes()],
] as const) {
  const file = join(GOLDEN, name)
  const known = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>) : {}
  writeFileSync(file, `${JSON.stringify({ ...now, ...known }, null, 2)}\n`)
}

/** The histories named on the command line; all if none is named. */
const [, , ...only] = process.argv

const all = recorded()
for (const [name, tell] of Object.entries(HISTORIES)) {
  if (only.length > 0 && !only.includes(name)) continue
  const folder = mkdtempSync(join(tmpdir(), 'keepup-golden-'))
  const made = await recording(await tell(), folder)
  rmSync(folder, { recursive: true })
  const last = newestOf(all, name)
  const known = last && { ...made.told, rows: rowsKnownTo(last.told, made.told.rows) }
  if (last?.text === made.text && JSON.stringify(last.told) === JSON.stringify(known)) continue
  const number = (last?.number ?? 0) + 1
  record({ name, number, ...made })
  console.log(`${name}.${number}`)
}
