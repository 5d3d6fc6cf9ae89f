import type { RecordedEvent } from '../../domain/log/envelope.ts'
import { StreamVerifier } from '../../domain/log/verify.ts'
import { ExportHead, ExportLine } from './export.ts'

export interface VerifiedExport {
  readonly runId: string
  readonly ok: boolean
  readonly events: number
  readonly erased: number
  readonly problems: readonly { stream: string; revision: number; code: string; message: string }[]
}

/** The text was not written by an export. */
export class NoExport extends Error {
  override readonly name = 'NoExport'
  /** What came before this line was one; 0: there is no line. */
  readonly line: number
  constructor(why: string, line: number) {
    super(`this is no export: ${why}`)
    this.line = line
  }
}

/**
 * Checks an exported run without its log: the chain of every stream, ids, bodies, times, that every body which is gone was
 * erased by a fact, and that each stream ends where the first line says. Rejects with {@link NoExport}.
 */
export async function verifyExport(lines: AsyncIterable<string>): Promise<VerifiedExport> {
  let head: ExportHead | null = null
  const streams = new Map<string, StreamVerifier>()
  let events = 0
  for await (const text of lines) {
    if (text.trim() === '') continue
    if (head === null) {
      head = read(ExportHead, text, 1)
      continue
    }
    const line = read(ExportLine, text, events + 2)
    events++
    const { stream, revision, body } = line.header
    const verifier = streams.get(stream) ?? new StreamVerifier(stream)
    streams.set(stream, verifier)
    const bytes = line.body === null ? null : Buffer.from(line.body, 'base64')
    const inline = body.place === 'inline'
    verifier.page([{ ...line, body: inline ? bytes : null } as RecordedEvent], new Map([[revision, bytes]]))
  }
  if (head === null) throw new NoExport('it is empty', 0)
  const found = [...streams].map(([stream, verifier]) => ({ stream, ...verifier.result() }))
  const problems = found.flatMap(({ stream, problems: all }) => all.map((problem) => ({ stream, ...problem })))
  for (const { stream, revision, hash } of head.streams) {
    const end = found.find((one) => one.stream === stream)
    if (end?.events === revision + 1 && end.head === hash) continue
    const message = 'the stream does not end where the first line says'
    problems.push({ stream, revision, code: 'CHAIN', message })
  }
  const erased = found.reduce((sum, one) => sum + one.erased.length, 0)
  return { runId: head.runId, ok: problems.length === 0, events, erased, problems }
}

function read<T>(
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
