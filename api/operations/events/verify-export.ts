import { AGGREGATES } from '../../../domain/kinds.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { kindOf } from '../../../domain/log/owner.ts'
import { bodyHasher, SALT_BYTES, unsalted } from '../../../domain/log/seal.ts'
import { StreamVerifier } from '../../../domain/log/verify.ts'
import type { AttachedBytes } from '../../../domain/stream/aggregate.ts'
import { ExportHead, ExportLine, ExportPart, NoExport, readLine } from './export-lines.ts'

/** The result for an exported run. `problems` is empty if `ok`. */
export interface VerifiedExport {
  readonly runId: string
  readonly ok: boolean
  readonly events: number
  readonly erased: number
  /** The number of erased bodies by the code of their erasure. */
  readonly erasedBy: Readonly<Record<string, number>>
  readonly problems: readonly { stream: string; revision: number; code: string; message: string }[]
}

/**
 * Verifies an exported run without its log: the chain of every stream, ids, bodies and times, that an event records the
 * erasure of each missing body, and that each stream ends as the first line says. Rejects with {@link NoExport}.
 */
export async function verifyExport(given: AsyncIterable<string>): Promise<VerifiedExport> {
  let head: ExportHead | null = null
  const streams = new Map<string, StreamVerifier>()
  const problems: { stream: string; revision: number; code: string; message: string }[] = []
  let whole: WholeResult | null = null
  let events = 0
  let lines = 1
  for await (const text of given) {
    if (text.trim() === '') continue
    if (head === null) {
      head = readLine(ExportHead, text, 1)
      continue
    }
    lines++
    if (text.startsWith(PART)) {
      const part = readLine(ExportPart, text, lines)
      if (whole?.attachment.hash !== part.attachment) throw new NoExport(`line ${lines} belongs to no event`, lines)
      whole.add(Buffer.from(part.bytes, 'base64'))
      continue
    }
    problems.push(...(whole?.faults() ?? []))
    const line = readLine(ExportLine, text, lines)
    events++
    const { stream, revision, body } = line.header
    const verifier = streams.get(stream) ?? new StreamVerifier(stream)
    streams.set(stream, verifier)
    const bytes = line.body === null ? null : Buffer.from(line.body, 'base64')
    const aggregate = AGGREGATES.get(kindOf(stream))
    const attachment = bytes === null ? undefined : aggregate?.attachment?.(line.header, unsalted(bytes))
    whole = attachment === undefined ? null : new WholeResult(stream, revision, attachment)
    const inline = body.place === 'inline'
    verifier.page([{ ...line, body: inline ? bytes : null } as RecordedEvent], new Map([[revision, bytes]]))
  }
  if (head === null) throw new NoExport('it is empty', 0)
  const found = [...streams].map(([stream, verifier]) => ({ stream, ...verifier.result() }))
  problems.push(...(whole?.faults() ?? []))
  problems.push(...found.flatMap(({ stream, problems: all }) => all.map((problem) => ({ stream, ...problem }))))
  for (const { stream, revision, hash } of head.streams) {
    const end = found.find((one) => one.stream === stream)
    if (end?.events === revision + 1 && end.head === hash) continue
    const message = 'the stream does not end where the first line says'
    problems.push({ stream, revision, code: 'CHAIN', message })
  }
  const codes = found.flatMap(({ erased }) => erased.map(({ code }) => code)).sort()
  const erasedBy: Record<string, number> = {}
  for (const code of codes) erasedBy[code] = (erasedBy[code] ?? 0) + 1
  return { runId: head.runId, ok: problems.length === 0, events, erased: codes.length, erasedBy, problems }
}

/** The start of the lines of whole results. */
const PART = '{"attachment":'

/** A whole result, whose parts follow its event. */
class WholeResult {
  readonly #stream: string
  readonly #revision: number
  readonly attachment: AttachedBytes
  readonly #hasher = bodyHasher()
  #size = 0

  constructor(stream: string, revision: number, attachment: AttachedBytes) {
    this.#stream = stream
    this.#revision = revision
    this.attachment = attachment
  }

  add(bytes: Uint8Array): void {
    this.#hasher.update(bytes)
    this.#size += bytes.length
  }

  /** The fault of the result after its last part. */
  faults() {
    if (this.#size === SALT_BYTES + this.attachment.size && this.#hasher.hex() === this.attachment.hash) return []
    const message = 'the whole result that it names is missing, or not the one that was stored'
    return [{ stream: this.#stream, revision: this.#revision, code: 'BLOB', message }]
  }
}
