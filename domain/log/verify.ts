import { FORMAT, type Header, type RecordedEvent } from './envelope.ts'
import { erasedFact } from './erased.ts'
import { isHeader } from './header.ts'
import { chainHash, eventId, GENESIS, isSealedBody } from './seal.ts'

interface Problem {
  readonly revision: number
  readonly code: 'CHAIN' | 'BODY' | 'SHAPE' | 'TIME' | 'BLOB'
  readonly message: string
}

/** The result of verifying a stream's bytes. Replay checks the digests of the folded state. */
export interface StreamVerification {
  readonly events: number
  readonly ok: boolean
  /** The last event's hash, hex; 64 zeros for an empty stream. */
  readonly head: string
  readonly erased: readonly { readonly revision: number; readonly code: string; readonly reason: string }[]
  /** Revisions whose body is in the blob store and was not fetched. */
  readonly unfetched: readonly number[]
  readonly problems: readonly Problem[]
}

/** The bytes of blob bodies by revision. Null: the blob store has none. Absent: not fetched. */
export type Blobs = ReadonlyMap<number, Uint8Array | null>

/**
 * Verifies a stream (named without the namespace) page by page: density, chain and ids, times, body hashes. Each event
 * is checked against the stored hash before it, so one altered event does not invalidate all later ones. Memory grows
 * with the problems, erased bodies and unfetched bodies, not with the stream.
 */
export class StreamVerifier {
  readonly #stream: string
  #events = 0
  #next = 0
  #head = GENESIS
  #timestamp = ''
  readonly #problems: Problem[] = []
  readonly #unfetched: number[] = []
  readonly #erased: { revision: number; code: string; reason: string }[] = []
  /** Emptied bodies that no fact has named yet: revision → body hash. */
  readonly #emptied = new Map<number, string>()

  constructor(stream: string) {
    this.#stream = stream
  }

  /** Verifies the stream's next events, read with their bodies. */
  page(events: readonly RecordedEvent[], blobs: Blobs = new Map()): void {
    for (const event of events) this.#event(event, blobs)
  }

  /** The result so far. An emptied body counts as erased only if a later fact of the stream names it. */
  result(): StreamVerification {
    const problems = [...this.#problems]
    for (const revision of this.#emptied.keys())
      problems.push({ revision, code: 'BODY', message: 'the body was emptied, but no erased fact names it' })
    return {
      events: this.#events,
      ok: problems.length === 0,
      head: this.#head,
      erased: [...this.#erased],
      unfetched: [...this.#unfetched],
      problems,
    }
  }

  #event(event: RecordedEvent, blobs: Blobs): void {
    const { header } = event
    const { revision } = header
    const report = (code: Problem['code'], message: string) => this.#problems.push({ revision, code, message })
    for (const message of shapeProblems(header, this.#stream, this.#next)) report('SHAPE', message)
    if (chainHash(this.#head, header) !== event.hash)
      report('CHAIN', 'the hash does not follow from the event and the hash before it')
    if (event.id !== eventId(event.hash)) report('CHAIN', 'the id does not follow from the hash')
    if (header.timestamp < this.#timestamp) report('TIME', `${header.timestamp} is before ${this.#timestamp}`)
    if (event.erased) this.#emptied.set(revision, header.body.hash)
    else checkBody(event, blobs, report, this.#unfetched)
    const fact = erasedFact(event)
    for (const { revision, bodyHash } of fact?.bodies ?? []) {
      if (this.#emptied.get(revision) !== bodyHash) continue
      this.#emptied.delete(revision)
      this.#erased.push({ revision, code: fact!.code, reason: fact!.reason })
    }
    this.#events += 1
    this.#next = revision + 1
    this.#head = event.hash
    this.#timestamp = header.timestamp
  }
}

function shapeProblems(header: Header, stream: string, revision: number): string[] {
  const found: string[] = []
  if (header.format !== FORMAT) found.push(`format ${String(header.format)} is not ${FORMAT}`)
  else if (!isHeader(header)) found.push('the header has not the shape of its format')
  if (header.stream !== stream) found.push(`the event belongs to stream ${header.stream}`)
  if (header.revision !== revision) found.push(`revision ${revision} was to come here`)
  return found
}

function checkBody(
  event: RecordedEvent,
  blobs: Blobs,
  report: (code: Problem['code'], message: string) => void,
  unfetched: number[],
): void {
  const { body, revision } = event.header
  const inline = body.place === 'inline'
  const bytes = inline ? event.body : blobs.get(revision)
  if (bytes === undefined) unfetched.push(revision)
  else if (bytes === null) report(inline ? 'BODY' : 'BLOB', 'the body is missing')
  else if (!isSealedBody(body, bytes)) report(inline ? 'BODY' : 'BLOB', 'the body is not the one that was sealed')
}
