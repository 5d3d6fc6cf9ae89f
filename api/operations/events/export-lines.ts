import { z } from 'zod'
import { Header } from '../../../domain/log/envelope.ts'

// The lines of an export, which programs without the log read too.

/** The version of the export format. */
export const EXPORT = 1

/** The first line: the content of the file. */
export const ExportHead = z.strictObject({
  export: z.literal(EXPORT),
  logId: z.string(),
  runId: z.string(),
  streams: z.array(z.strictObject({ stream: z.string(), revision: z.int(), hash: z.string() })),
})
export type ExportHead = z.infer<typeof ExportHead>

/** Every other line: a sealed event. `body`: base64 of the stored bytes, salt first; null: erased. */
export const ExportLine = z.strictObject({
  header: Header,
  hash: z.string(),
  id: z.string(),
  position: z.int(),
  body: z.string().nullable(),
  erased: z.literal(true).optional(),
})
export type ExportLine = z.infer<typeof ExportLine>

/** Lines after an event with a partial result: the whole result in order, as base64 of its next stored bytes, salt first. */
export const ExportPart = z.strictObject({ attachment: z.string(), bytes: z.string() })
export type ExportPart = z.infer<typeof ExportPart>

/** The text is not an export. */
export class NoExport extends Error {
  override readonly name = 'NoExport'
  /** The number of lines before this one. 0: the text has no line. */
  readonly line: number
  constructor(why: string, line: number) {
    super(`this is no export: ${why}`)
    this.line = line
  }
}

/** Parses a line of an export. `line`: its number, from 1. Throws {@link NoExport}. */
export function readLine<T>(
  schema: { safeParse(v: unknown): { success: true; data: T } | { success: false } },
  text: string,
  line: number,
): T {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new NoExport(`line ${line} is no JSON`, line)
  }
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw new NoExport(`line ${line} has another shape`, line)
  return parsed.data
}
