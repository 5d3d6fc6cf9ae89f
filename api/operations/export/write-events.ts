import { join } from 'node:path'
import type { Row } from '../../../adapters/files/rows/column.ts'
import { cloudEvent } from './cloud-event.ts'
import type { EventLine, EventsHead } from './event-lines.ts'
import { EVENT_COLUMNS, EXPORT_SCHEMA } from './event-row.ts'
import { ExportError } from './export-error.ts'
import { encoderOf, RowFile } from './export-files.ts'
import { type ExportFolder, endingOf, mustBeSchema, type Part } from './manifest.ts'

/** The most rows of a part, and the most characters of its texts. */
const PART_ROWS = 200_000
const PART_CHARACTERS = 256 * 1024 * 1024

/** Reads events: a first line of `EventsHead`, then lines of `EventLine`. `last`: the last position; null: the head. */
export type OpenEvents = (after: string | null, last: number | null) => AsyncIterable<string>

/** What an export of events has added. */
export interface ExportedEvents {
  /** The cursor of the last exported event. Null: the log had no event after the beginning. */
  readonly position: string | null
  /** The number of events that this export added. */
  readonly rows: number
  /** New files. */
  readonly files: readonly string[]
  /** Files that were written again because of an erasure. */
  readonly rewritten: readonly string[]
  /** Files of tables in the folder that may still show what was erased: they are older than the erasure. */
  readonly outdated: readonly string[]
}

/** The part that is being written. */
interface OpenPart {
  readonly file: RowFile
  readonly day: string
  readonly first: number
  readonly after: string | null
  last: number
  cursor: string
  /** The position of the last erasure in this part. */
  erasure?: number
  /** Files of earlier parts with payloads that an erasure in this part changed. */
  readonly touched: Set<string>
}

/** Appends the events after the last part of the folder. `since`: where a new export begins. */
export async function writeEvents(folder: ExportFolder, since: string | null, open: OpenEvents): Promise<Written> {
  const { parts } = folder
  const isBegun = parts.length > 0 || folder.since !== null
  if (since !== null && isBegun && folder.since !== since)
    throw new ExportError(
      'EXPORT_BEGUN',
      `${folder.path} began at another place of the log and goes on from there; leave out --since, or export into a new folder`,
    )
  return new EventsWriter(folder, folder.since ?? since, open).write(parts.at(-1)?.cursor)
}

type Written = Omit<ExportedEvents, 'outdated'>

class EventsWriter {
  readonly #folder: ExportFolder
  readonly #since: string | null
  readonly #open: OpenEvents
  readonly #files: string[] = []
  readonly #rewritten = new Set<string>()
  #rows = 0
  #log = ''

  constructor(folder: ExportFolder, since: string | null, open: OpenEvents) {
    this.#folder = folder
    this.#since = since
    this.#open = open
  }

  async write(from: string | null = this.#since): Promise<Written> {
    let after = from
    let part: OpenPart | null = null
    let seen = -1
    try {
      for await (const line of this.#lines(from, null, (head) => (seen = head))) {
        const day = line.time.slice(0, 10)
        if (part !== null && (part.day !== day || isFull(part.file))) {
          await this.#end(part, seen)
          after = part.cursor
          part = null
        }
        part ??= await this.#begin(day, line, after)
        await part.file.add(this.#row(line))
        part.last = line.position
        part.cursor = line.cursor
        if (line.touches !== undefined) {
          part.erasure = line.position
          this.#touch(part, line)
        }
      }
      if (part !== null) {
        await this.#end(part, seen)
        after = part.cursor
      }
    } catch (error) {
      await part?.file.discard()
      throw error
    }
    return { position: after, rows: this.#rows, files: this.#files, rewritten: [...this.#rewritten].sort() }
  }

  async *#lines(after: string | null, last: number | null, onHead: (seen: number) => void): AsyncGenerator<EventLine> {
    let isFirst = true
    for await (const text of this.#open(after, last)) {
      if (isFirst) {
        const { schema, logId, head } = JSON.parse(text) as EventsHead
        mustBeSchema(schema)
        await this.#folder.mustBeOf(logId, this.#since)
        this.#log = logId
        onHead(head)
      } else yield JSON.parse(text) as EventLine
      isFirst = false
    }
    if (isFirst) throw new ExportError('EXPORT_BROKEN', 'the log answered nothing; run the export again')
  }

  /** Adds the parts that were written before an erasure, and have events whose payload it changed. */
  #touch({ touched }: OpenPart, { position, touches = [] }: EventLine): void {
    for (const { file, first, last, seen } of this.#folder.parts)
      if (seen < position && !touched.has(file) && touches.some(([from, to]) => from <= last && to >= first))
        touched.add(file)
  }

  #row(line: EventLine): Row {
    if (this.#folder.format === 'cloudevents') return [JSON.stringify(cloudEvent(line, this.#log))]
    return EVENT_COLUMNS.map(({ name }) => line[name])
  }

  async #begin(day: string, { position, cursor }: EventLine, after: string | null): Promise<OpenPart> {
    const file = await this.#file(day, `part-${position}`)
    return { file, day, after, first: position, last: position, cursor, touched: new Set() }
  }

  #file(day: string, name: string): Promise<RowFile> {
    const path = join(this.#folder.path, 'events', `day=${day}`, name)
    return RowFile.open(path, encoderOf(this.#folder.format, EVENT_COLUMNS))
  }

  /**
   * Publishes a part. The parts that its erasures touch are written before: a later export begins after this part, so it
   * does not read these erasures.
   */
  async #end({ file, day, first, last, after, cursor, erasure, touched }: OpenPart, seen: number): Promise<void> {
    for (const part of this.#folder.parts) if (touched.has(part.file)) await this.#again(part)
    const name = `part-${first}-${last}.${endingOf(this.#folder.format)}`
    const sha256 = await file.publish(name)
    const path = `events/day=${day}/${name}`
    const { rows } = file
    const line = { file: path, rows, first, last, sha256, schema: EXPORT_SCHEMA, after, cursor, seen }
    await this.#folder.record({ ...line, ...(erasure !== undefined && { erasure }) })
    this.#files.push(path)
    this.#rows += rows
  }

  /** Writes a part again, with the present payloads of its events. */
  async #again(part: Part): Promise<void> {
    const [, day, name] = /^events\/day=([^/]+)\/(.+)$/.exec(part.file)!
    const file = await this.#file(day!, name!)
    let seen = -1
    try {
      for await (const line of this.#lines(part.after, part.last, (head) => (seen = head)))
        await file.add(this.#row(line))
      if (file.rows !== part.rows)
        throw new ExportError(
          'EXPORT_CHANGED',
          `the log has ${file.rows} events in the place of the ${part.rows} of ${part.file}; verify the log, and export into a new folder`,
        )
      const sha256 = await file.publish(name!)
      await this.#folder.record({ ...part, sha256, seen })
      this.#rewritten.add(part.file)
    } catch (error) {
      await file.discard()
      throw error
    }
  }
}

const isFull = ({ rows, characters }: RowFile): boolean => rows >= PART_ROWS || characters >= PART_CHARACTERS
