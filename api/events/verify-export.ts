import { bodyHash, chainHash, eventId, GENESIS } from '../../domain/log/seal.ts'
import { ExportHead, ExportLine } from './export.ts'

export interface VerifiedExport {
  readonly runId: string
  readonly ok: boolean
  readonly events: number
  readonly erased: number
  readonly problems: readonly { stream: string; revision: number; code: string; message: string }[]
}

/**
 * Checks an exported run without its log: the chain of every stream, ids, bodies, times, and that each stream ends where
 * the first line says. Throws where the text is no export.
 */
export async function verifyExport(lines: AsyncIterable<string>): Promise<VerifiedExport> {
  let head: ExportHead | null = null
  const last = new Map<string, { revision: number; hash: string; at: string }>()
  const problems: { stream: string; revision: number; code: string; message: string }[] = []
  let events = 0
  let erased = 0
  for await (const text of lines) {
    if (text.trim() === '') continue
    if (head === null) {
      head = read(ExportHead, text, 1)
      continue
    }
    const e = read(ExportLine, text, events + 2)
    events++
    const { stream, revision, timestamp, body } = e.header
    const before = last.get(stream) ?? { revision: -1, hash: GENESIS, at: '' }
    const found = (code: string, message: string) => problems.push({ stream, revision, code, message })
    if (revision !== before.revision + 1) found('CHAIN', `revision ${before.revision + 1} was expected`)
    if (chainHash(before.hash, e.header) !== e.hash) found('CHAIN', 'the hash does not follow from the event before')
    if (eventId(e.hash) !== e.id) found('CHAIN', 'the id is not that of the hash')
    if (timestamp < before.at) found('TIME', 'earlier than the event before')
    if (e.erased) erased++
    else if (e.body === null) found('BODY', 'the body is missing and was not erased')
    else if (bodyHash(Buffer.from(body.salt, 'hex'), Buffer.from(e.body, 'base64')) !== body.hash) {
      found('BODY', 'the body is not the one that was sealed')
    }
    last.set(stream, { revision, hash: e.hash, at: timestamp })
  }
  if (head === null) throw new Error('this is no export: it is empty')
  for (const { stream, revision, hash } of head.streams) {
    const end = last.get(stream)
    if (end?.revision !== revision || end.hash !== hash) {
      problems.push({ stream, revision, code: 'CHAIN', message: 'the stream does not end where the first line says' })
    }
  }
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
    throw new Error(`this is no export: line ${line} is no JSON`)
  }
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw new Error(`this is no export: line ${line} has another shape`)
  return parsed.data
}
