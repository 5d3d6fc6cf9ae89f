import { existsSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { z } from 'zod'
import { syncNames } from '../../../adapters/files/durable.ts'
import { type FileLock, tryHold } from '../../../adapters/files/exclusive.ts'
import { makeFolder } from '../../../adapters/files/folders.ts'
import { parseCursor } from '../../../domain/log/cursor.ts'
import { EXPORT_SCHEMA } from './event-row.ts'
import { ExportError } from './export-error.ts'

export const FORMATS = ['parquet', 'csv', 'ndjson', 'cloudevents'] as const
/** The format of the files of an export. `cloudevents` is for events only. */
export type ExportFormat = (typeof FORMATS)[number]

/** The end of the names of files in a format. */
export const endingOf = (format: ExportFormat): string => (format === 'cloudevents' ? 'ndjson' : format)

/** The first line: the log and the format of all files. `since`: the cursor after which the events begin. */
const Head = z.strictObject({
  keepup: z.literal('export'),
  schema: z.int(),
  log: z.string(),
  format: z.enum(FORMATS),
  since: z.string().optional(),
})

const File = z.object({ file: z.string(), rows: z.int(), sha256: z.string(), schema: z.int() })

/**
 * A file of events. `after`: the cursor before the first event; null: the beginning of the log. `cursor`: that of the last event.
 * `seen`: the file shows every erasure up to this position. `erasure`: the position of the last erasure among its events.
 */
const Part = File.extend({
  first: z.int(),
  last: z.int(),
  after: z.string().nullable(),
  cursor: z.string(),
  seen: z.int(),
  erasure: z.int().optional(),
})
export type Part = z.infer<typeof Part>

/** A file with the rows of a table. `position`: the cursor of the last event that the tables show. */
const TableFile = File.extend({ table: z.string(), position: z.string().nullable() })
export type TableFile = z.infer<typeof TableFile>

const Line = z.union([Part.strict(), TableFile.strict(), Head])

const MANIFEST = '_manifest.ndjson'
const LOCK = '_lock'

/** The beginning of every manifest. */
const BEGINNING = '{"keepup":"export","schema":'

/** Whether an export in this format writes a file of this name, also unfinished. */
async function isExported(file: string, format: ExportFormat): Promise<boolean> {
  const ending = endingOf(format)
  const part = `events/day=\\d{4}-\\d{2}-\\d{2}/part-(?:\\d+\\.tmp|\\d+-\\d+\\.${ending}(?:\\.tmp)?)`
  if (new RegExp(`^${part}$`).test(file)) return true
  const [, table] = new RegExp(`^tables/(\\w+)\\.(?:tmp|${ending})$`).exec(file) ?? []
  if (table === undefined) return false
  // The names of the tables load every kind of stream. Only a file without a line needs them.
  const { publicTables } = await import('../../../projections/engine/queries/table-rows.ts')
  return publicTables().some(({ name }) => name === table)
}

/**
 * The folder of an export: files, and a manifest with a line per file. The later line of a file replaces the earlier one. A
 * line is appended only after its file is durable, so a file without a line does not count.
 */
export class ExportFolder {
  readonly path: string
  readonly format: ExportFormat
  readonly #lock: FileLock
  readonly #lines = new Map<string, Part | TableFile>()
  /** Null: the folder is new. */
  #log: string | null = null
  #since: string | null = null

  private constructor(path: string, format: ExportFormat, lock: FileLock) {
    this.path = path
    this.format = format
    this.#lock = lock
  }

  /**
   * Opens the folder for an export in this format, and removes files that an interrupted export left. Rejects with an
   * {@link ExportError} if the folder belongs to something else, or to a running export.
   */
  static async open(path: string, format: ExportFormat): Promise<ExportFolder> {
    makeFolder(path)
    if (!existsSync(join(path, MANIFEST))) mustHaveNoOthers(path)
    const lock = tryHold(join(path, LOCK))
    if (lock === null)
      throw new ExportError(
        'EXPORT_RUNNING',
        `another export writes to ${path}; wait for its end, or name another folder`,
      )
    const folder = new ExportFolder(path, format, lock)
    try {
      folder.#read()
      await folder.#sweep()
      return folder
    } catch (error) {
      lock.release()
      throw error
    }
  }

  /** The parts of the events in the order of the log. */
  get parts(): readonly Part[] {
    return [...this.#lines.values()].filter((line) => 'first' in line).sort((a, b) => a.first - b.first)
  }

  /** The cursor after which the events begin. Null: the beginning of the log, or not known yet. */
  get since(): string | null {
    return this.#since
  }

  /** Files of tables that are older than an erasure among the exported events. */
  get outdated(): readonly string[] {
    const erasure = Math.max(...this.parts.map((part) => part.erasure ?? -1))
    return [...this.#lines.values()]
      .filter((line) => 'table' in line && line.position !== null && parseCursor(line.position).position < erasure)
      .map(({ file }) => file)
      .sort()
  }

  /**
   * Rejects if the folder has the export of another log. A new folder becomes that of this log. `since`: where its events
   * begin.
   */
  async mustBeOf(log: string, since: string | null = null): Promise<void> {
    if (this.#log !== null && this.#log !== log)
      throw foreign(this.path, `it holds the export of another log (${this.#log})`)
    if (this.#log === log && (since === null || since === this.#since)) return
    const head = { keepup: 'export', schema: EXPORT_SCHEMA, log, format: this.format } as const
    await this.#append({ ...head, ...(since !== null && { since }) } satisfies z.infer<typeof Head>)
    await syncNames(this.path)
    this.#log = log
    this.#since = since
  }

  /** Records a durable file, in place of an earlier one with this name. */
  async record(line: Part | TableFile): Promise<void> {
    await this.#append(line)
    this.#lines.set(line.file, line)
  }

  release(): void {
    this.#lock.release()
  }

  #read(): void {
    const path = join(this.path, MANIFEST)
    if (!existsSync(path)) return
    const bytes = readFileSync(path)
    const end = bytes.lastIndexOf(10) + 1
    if (end > 0) this.#readLines(bytes.subarray(0, end).toString('utf8').split('\n').slice(0, -1))
    else {
      if (!isBeginning(bytes.toString('utf8'))) throw foreign(this.path, 'its manifest is none of keepup')
      mustHaveNoOthers(this.path)
    }
    // The last line is incomplete if the process ended while it was written.
    if (end < bytes.length) truncateSync(path, end)
  }

  #readLines([first, ...lines]: readonly string[]): void {
    const head = Head.safeParse(jsonOf(first!))
    if (!head.success) throw foreign(this.path, 'its manifest is none of keepup')
    if (head.data.schema !== EXPORT_SCHEMA)
      throw new ExportError(
        'EXPORT_SCHEMA',
        `${this.path} has columns of version ${head.data.schema}, and this program writes version ${EXPORT_SCHEMA}; export into a new folder`,
      )
    if (head.data.format !== this.format)
      throw foreign(this.path, `it holds an export as ${head.data.format}, not as ${this.format}`)
    this.#log = head.data.log
    this.#since = head.data.since ?? null
    for (const [n, text] of lines.entries()) {
      const line = Line.safeParse(jsonOf(text))
      if (!line.success) throw foreign(this.path, `line ${n + 2} of its manifest has another shape`)
      if ('file' in line.data) this.#lines.set(line.data.file, line.data)
      else this.#since = line.data.since ?? null
    }
  }

  /** Removes files of exports that have no line. */
  async #sweep(): Promise<void> {
    for (const folder of ['events', 'tables']) {
      if (!existsSync(join(this.path, folder))) continue
      for (const entry of readdirSync(join(this.path, folder), { recursive: true, withFileTypes: true })) {
        const path = join(entry.parentPath, entry.name)
        const file = relative(this.path, path).replaceAll(sep, '/')
        if (entry.isFile() && !this.#lines.has(file) && (await isExported(file, this.format))) rmSync(path)
      }
    }
  }

  async #append(line: object): Promise<void> {
    const handle = await open(join(this.path, MANIFEST), 'a', 0o600)
    try {
      await handle.writeFile(`${JSON.stringify(line)}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
  }
}

/** A file that SQLite may keep beside the lock. */
const isSideFile = (name: string): boolean => name.startsWith(`${LOCK}-`)

function mustHaveNoOthers(path: string): void {
  if (readdirSync(path).some((name) => name !== LOCK && name !== MANIFEST && !isSideFile(name)))
    throw foreign(path, 'it has other files and no manifest')
}

/** Whether this is the beginning of a manifest whose first line is incomplete. */
const isBeginning = (text: string): boolean => BEGINNING.startsWith(text) || text.startsWith(BEGINNING)

const foreign = (path: string, why: string) =>
  new ExportError('EXPORT_FOREIGN', `${path} cannot be continued: ${why}; export into a new folder`)

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Refuses lines of a server whose program writes other columns. */
export function mustBeSchema(schema: number): void {
  if (schema !== EXPORT_SCHEMA)
    throw new ExportError(
      'EXPORT_SCHEMA',
      `the server has columns of version ${schema}, and this program writes version ${EXPORT_SCHEMA}; use the keepup of the server`,
    )
}
