import type { Failure } from './export-error.ts'
import type { ExportFormat } from './manifest.ts'
import type { ExportedEvents } from './write-events.ts'
import type { ExportedTables } from './write-tables.ts'

/** An export into a folder. `since`: the cursor after which new events begin; null: the beginning of the log. */
export interface ExportWork {
  readonly folder: string
  readonly format: ExportFormat
  readonly events: { readonly since: string | null } | null
  readonly tables: boolean
}

export interface Exported {
  readonly events: ExportedEvents | null
  readonly tables: ExportedTables | null
}

/** The lines that a thread asks for. */
export type AskedLines =
  | {
      readonly of: 'events'
      readonly after: string | null
      /** The last position; null: the head. */
      readonly last: number | null
    }
  | { readonly of: 'tables' }

/** A part of the lines, at any boundary. */
export type Piece = string | Uint8Array

export type FromThread =
  | { readonly kind: 'open'; readonly stream: number; readonly asked: AskedLines }
  | { readonly kind: 'pull' | 'close'; readonly stream: number }
  | { readonly kind: 'done'; readonly exported: Exported }
  | { readonly kind: 'failed'; readonly failure: Failure }

/** The answer to a pull. `piece` null: the end. */
export type ToThread =
  | { readonly stream: number; readonly piece: Piece | null }
  | { readonly stream: number; readonly failure: string }
