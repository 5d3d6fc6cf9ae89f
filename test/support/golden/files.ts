import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { REFILLED } from '../../../projections/engine/schema/migrations.ts'
import type { Dump } from '../projections/kit.ts'
import type { RecordingLog } from './recording.ts'
import { rowsOf } from './rows.ts'
import { MEANINGS, toldOf } from './told.ts'

export const GOLDEN = join(import.meta.dirname, '../../golden')

/** The expectations recorded with a history: its fold by the program at that time. */
export interface Told {
  readonly versions: { readonly [K in keyof typeof MEANINGS]: number }
  readonly agents: Awaited<ReturnType<typeof toldOf>>
  readonly rows: Dump
}

/** A recorded history. If the program's output changes, the history is recorded again under the next number. */
export interface Recorded {
  readonly name: string
  readonly number: number
  readonly text: string
  readonly told: Told
}

/** All recorded histories. */
export function recorded(): Recorded[] {
  return readdirSync(GOLDEN).flatMap((file) => {
    const [, name, number] = /^(.+)\.(\d+)\.jsonl$/.exec(file) ?? []
    if (name === undefined) return []
    const read = (ending: string) => readFileSync(join(GOLDEN, `${name}.${number}.${ending}`), 'utf8')
    return [{ name, number: Number(number), text: read('jsonl'), told: JSON.parse(read('json')) as Told }]
  })
}

/** The recording of a name with the highest number. */
export const newestOf = (all: readonly Recorded[], name: string): Recorded | undefined =>
  all.filter((one) => one.name === name).sort((a, b) => b.number - a.number)[0]

/** The files of a history. `folder`: for the tables. */
export async function recording(log: RecordingLog, folder: string): Promise<Pick<Recorded, 'text' | 'told'>> {
  const told = { versions: MEANINGS, agents: await toldOf(log.stores), rows: await rowsOf(log, log.blobs, folder) }
  return { text: log.text, told: JSON.parse(JSON.stringify(told)) as Told }
}

/** Rows of the tables and columns that a recording has. Later ones do not change older recordings. */
export const rowsKnownTo = ({ rows: recorded }: Pick<Told, 'rows'>, rows: Dump): Dump =>
  Object.fromEntries(
    Object.entries(rows)
      .filter(([table]) => !REFILLED.some((added) => added === table) || recorded[table] !== undefined)
      .map(([table, all]) => {
        const known = new Set(recorded[table]?.flatMap((row) => Object.keys(row)))
        const isKnown = ([column]: [string, unknown]) =>
          known.has(column) || !REFILLED.some((added) => added === `${table}.${column}`)
        return [table, all.map((row) => Object.fromEntries(Object.entries(row).filter(isKnown)))]
      }),
  )

const KEPT = join(GOLDEN, 'kept.json')
type Digests = Record<string, string>

/** The digest of each file when it was recorded. Recorded lines never change. */
export const kept = (): Digests => (existsSync(KEPT) ? (JSON.parse(readFileSync(KEPT, 'utf8')) as Digests) : {})

/** The current digest of each file. */
export function digests(): Digests {
  const files = readdirSync(GOLDEN).filter((file) => /\.\d+\.jsonl?$/.test(file))
  return Object.fromEntries(files.sort().map((file) => [file, hash('sha256', readFileSync(join(GOLDEN, file)))]))
}

/** Writes a new recording. Never overwrites an earlier one. */
export function record({ name, number, text, told }: Recorded): void {
  const file = join(GOLDEN, `${name}.${number}.json`)
  writeFileSync(`${file}l`, text, { flag: 'wx' })
  writeFileSync(file, `${linesOf(told, 3)}\n`, { flag: 'wx' })
  writeFileSync(KEPT, `${JSON.stringify({ ...digests(), ...kept() }, null, 2)}\n`)
}

/** JSON with one line for each member of the outer `depth` levels: an agent's members and the rows of a table. */
function linesOf(value: unknown, depth: number): string {
  if (depth === 0 || typeof value !== 'object' || value === null) return JSON.stringify(value)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const lines = Object.entries(value).map(([name, member]) => {
    const text = linesOf(member, depth - 1)
    return Array.isArray(value) ? text : `${JSON.stringify(name)}:${text}`
  })
  return lines.length === 0 ? `${open}${close}` : `${open}\n${lines.join(',\n')}\n${close}`
}
