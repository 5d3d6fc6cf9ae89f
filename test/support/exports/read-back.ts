import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { parquetReadObjects } from 'hyparquet'
import { expect } from 'vitest'
import { EventViews } from '../../../api/operations/events/view.ts'
import type { Services } from '../../../api/operations/services.ts'

/** A row of an exported file, as its reader sees it. */
export type ReadRow = Readonly<Record<string, unknown>>

export interface ManifestLine {
  readonly file: string
  readonly rows: number
  readonly sha256: string
  readonly first?: number
  readonly last?: number
  readonly position?: string | null
}

/** The lines of a manifest that count, by file. */
export function manifestOf(folder: string): ReadonlyMap<string, ManifestLine> {
  const [, ...lines] = readFileSync(join(folder, '_manifest.ndjson'), 'utf8').trimEnd().split('\n')
  return new Map(lines.map((text) => JSON.parse(text) as ManifestLine).map((line) => [line.file, line]))
}

/** The names of the files that a reader of the folder sees. */
export const filesIn = (folder: string): string[] => globSync('{events/day=*,tables}/*', { cwd: folder }).sort()

/** The rows of CSV: a state machine over RFC 4180. An empty field without quotes is null. */
export function csvRows(text: string): ReadRow[] {
  const lines: (string | null)[][] = [[]]
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    lines.at(-1)!.push(quoted?.replaceAll('""', '"') ?? (plain === '' ? null : plain!))
    if (end !== ',') lines.push([])
  }
  lines.pop()
  const [names = [], ...rows] = lines
  return rows.map((row) => Object.fromEntries(row.map((cell, n) => [names[n], cell])))
}

/** The rows of a file, by a reader that is not the writer. */
export async function rowsOf(path: string): Promise<ReadRow[]> {
  const bytes = readFileSync(path)
  if (path.endsWith('.ndjson'))
    return bytes
      .toString()
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as ReadRow)
  if (path.endsWith('.csv')) return csvRows(bytes.toString())
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
  return parquetReadObjects({ file, compressors: { ZSTD: (input) => zstdDecompressSync(input) } })
}

/** The exported events of a folder in their order, after a check of every file against the manifest. */
export async function exportedEvents(folder: string): Promise<ReadRow[]> {
  const manifest = manifestOf(folder)
  expect(filesIn(folder)).toEqual([...manifest.keys()].sort())
  const all: ReadRow[] = []
  const parts = [...manifest.values()].filter(({ first }) => first !== undefined)
  for (const { file, rows, sha256, first, last } of parts.sort((a, b) => a.first! - b.first!)) {
    const found = await rowsOf(join(folder, file))
    expect([file, found.length]).toEqual([file, rows])
    expect(
      createHash('sha256')
        .update(readFileSync(join(folder, file)))
        .digest('hex'),
    ).toBe(sha256)
    const placeOf = (row: ReadRow | undefined) => Number(row?.position ?? row?.sequence)
    expect([placeOf(found[0]), placeOf(found.at(-1))]).toEqual([first, last])
    all.push(...found)
  }
  return all
}

/** The rows that an export of the log must have, made of the log. Numbers, flags and times are texts. */
export async function expectedEvents({ log, blobs }: Pick<Services, 'log' | 'blobs'>): Promise<ReadRow[]> {
  const rows: ReadRow[] = []
  for await (const page of log.readAll(null))
    for (const event of page) {
      const { header: h, hash, id, position } = event
      const { payload } = await new EventViews(log, blobs).view(event)
      rows.push({
        ...{ position: String(position), event_id: id, stream: h.stream, revision: String(h.revision) },
        ...{ run_id: h.runId ?? null, agent_id: h.agentId ?? null, turn: String(h.turn), type: h.type },
        ...{ version: String(h.version), time: h.timestamp, actor_kind: h.actor.kind, actor_id: h.actor.id },
        ...{ claimed: String(h.actor.claimed ?? false), tool_call_id: h.toolCallId ?? null },
        ...{ causation_id: h.causationId ?? null, correlation_id: h.correlationId ?? h.commandId },
        ...{ command_id: h.commandId, hash, body_hash: h.body.hash, erased: String(event.erased ?? false), payload },
      })
    }
  return rows
}

/** A row of any format with numbers, flags and times as texts, and the payload as a value. */
export const plainRow = (row: ReadRow): ReadRow =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      if (name === 'payload') return [name, typeof value === 'string' ? JSON.parse(value) : (value ?? null)]
      if (value instanceof Date) return [name, value.toISOString()]
      return [name, value === null || value === undefined ? null : String(value)]
    }),
  )
