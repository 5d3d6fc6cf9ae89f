import { accessRows } from './access/index.ts'
import { agentRowRules } from './agent/rows/index.ts'
import { annotationRows } from './annotation/index.ts'
import { documentRows, gatewayRows } from './document/index.ts'
import type { StreamKind } from './engine/changes/stream-kind.ts'
import type { TableSpec } from './engine/schema/columns.ts'
import { externalRows } from './external/index.ts'
import { memoryRows } from './memory/index.ts'
import { proofRows } from './proof/index.ts'
import { contextRows } from './store/index.ts'
import { threadRows } from './thread/index.ts'

const OWN = [
  agentRowRules,
  documentRows,
  gatewayRows,
  externalRows,
  memoryRows,
  contextRows,
  proofRows,
  accessRows,
  threadRows,
  annotationRows,
] as const

const kinds = new Map<string, StreamKind>()
const tables = new Map<string, TableSpec>()

/** The row rules of each kind of stream, by the first part of the streams' names. */
export type StreamKinds = ReadonlyMap<string, StreamKind>
export const KINDS: StreamKinds = kinds

/** The tables of all kinds, by name. */
export const KIND_TABLES: ReadonlyMap<string, TableSpec> = tables

/** Adds the row rules and tables of a kind. Call it before any tables are opened. Throws for a name that is taken. */
export function addProjection(rows: StreamKind): void {
  const taken = [rows.kind].filter((kind) => kinds.has(kind))
  taken.push(...Object.keys(rows.tables).filter((table) => tables.has(table)))
  if (taken.length > 0) throw new Error(`${taken.join(', ')} was added before; use another name`)
  kinds.set(rows.kind, rows)
  for (const [table, spec] of Object.entries(rows.tables)) tables.set(table, spec)
}

for (const rows of OWN) addProjection(rows as StreamKind)

type Both<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer I) => void ? I : never

/** The tables of all kinds, for the types of rows. */
export type KindTables = Both<(typeof OWN)[number]['tables']>
