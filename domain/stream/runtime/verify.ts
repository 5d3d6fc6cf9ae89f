import { isStreamDamage } from '../../log/damage.ts'
import type { Header, RecordedEvent } from '../../log/envelope.ts'
import { LogError } from '../../log/errors.ts'
import { ownerOf } from '../../log/owner.ts'
import { unsalted } from '../../log/seal.ts'
import { StreamVerifier } from '../../log/verify.ts'
import type { Aggregate, AttachedBytes, StreamEvent } from '../aggregate.ts'
import { isAttached } from './attachments.ts'
import { wasErasedSince } from './bodies.ts'
import { FoldVerifier } from './fold-verifier.ts'
import type { Stores } from './ports.ts'
import type { ProofProblem, StreamProof } from './proof.ts'
import { Residues } from './residues.ts'

/**
 * Proves a stream: the chain, the hash of every body, shapes, times, and every recorded digest, by folding the stream
 * again. Inherited events are proved with their source stream; this function checks only the link to it. A stream that
 * the log cannot return (a tombstone, a truncation, an event of another program) has a problem at the first missing
 * event. `see` is called with every event whose body is present.
 */
export async function verifyStream<State, Event extends StreamEvent, Command>(
  stores: Stores,
  aggregate: Aggregate<State, Event, Command>,
  stream: string,
  see?: (header: Header, body: Uint8Array) => void,
): Promise<StreamProof> {
  const chain = new StreamVerifier(stream)
  const fold = new FoldVerifier(stores, aggregate)
  const residues = new Residues<Event>(stores, aggregate, stream)
  const attached: ProofProblem[] = []
  const unknown: ProofProblem[] = []
  let damage: LogError | null = null
  try {
    for await (const { page, blobs } of wholeStream(stores, stream)) {
      chain.page(page, blobs)
      for (const event of page) {
        const { header } = event
        const rest = event.erased ? await residues.of(header).catch(unknownEvent) : null
        if (rest instanceof LogError) unknown.push({ revision: header.revision, code: 'SHAPE', message: rest.message })
        const left = rest instanceof LogError ? null : rest
        const stored = event.erased ? null : (event.body ?? blobs.get(header.revision))
        const own = stored && unsalted(stored)
        if (own) see?.(header, own)
        const attachment = own ? aggregate.attachment?.(header, own) : undefined
        const lost = attachment && (await attachmentFault(stores, event, attachment))
        if (lost) attached.push({ revision: header.revision, code: 'BLOB', message: lost })
        const waits = fold.next(event, own ?? null, left)
        if (waits !== null) await waits
      }
    }
  } catch (error) {
    if (!isStreamDamage(error)) throw error
    damage = error
  }
  const { events, head, erased, problems } = chain.result()
  const given = damageProblems(damage, events)
  // The fold stops at an erased body without a residue, and so may not reach the malformed one.
  const reported = new Set(fold.problems.map(({ revision }) => revision))
  const malformed = [...residues.malformed]
    .filter((revision) => !reported.has(revision))
    .map((revision): ProofProblem => ({ revision, code: 'SHAPE', message: 'the residue has not its recorded shape' }))
  const all: ProofProblem[] = [...problems, ...fold.problems, ...attached, ...unknown, ...malformed, ...given].sort(
    (a, b) => a.revision - b.revision,
  )
  const { digests, recorded } = fold
  const ok = all.length === 0 && events > 0
  return { events, ok, head, erased, problems: all, digests, unchecked: recorded - digests }
}

/** The error of an erased event of an unknown type, which no residue restores. Rethrows every other error. */
function unknownEvent(error: unknown): LogError {
  if (error instanceof LogError && error.code === 'UNKNOWN_EVENT') return error
  throw error
}

/** Proves the chain and bodies of a stream without an aggregate, such as `log-meta`. The proof has no digests. */
export async function verifyChain(stores: Stores, stream: string): Promise<StreamProof> {
  const chain = new StreamVerifier(stream)
  let damage: LogError | null = null
  try {
    for await (const { page, blobs } of wholeStream(stores, stream)) chain.page(page, blobs)
  } catch (error) {
    if (!isStreamDamage(error)) throw error
    damage = error
  }
  const { events, head, erased, problems } = chain.result()
  const all: readonly ProofProblem[] = [...problems, ...damageProblems(damage, events)]
  return { events, ok: all.length === 0 && events > 0, head, erased, problems: all, digests: 0, unchecked: 0 }
}

/** The damaged event after `events` events, with the last good revision. */
function damageProblems(damage: LogError | null, events: number): ProofProblem[] {
  if (damage === null) return []
  const good = events === 0 ? 'no event before it can be read' : `the last good revision is ${events - 1}`
  return [{ revision: events, code: 'CHAIN', message: `${damage.message} (${good})` }]
}

/** The fault of an event's attachment; null: none. */
async function attachmentFault(
  { log, blobs }: Stores,
  event: RecordedEvent,
  attachment: AttachedBytes,
): Promise<string | null> {
  const sound = await isAttached(blobs, ownerOf(event.header), attachment).catch(missing)
  if (sound instanceof LogError)
    return (await wasErasedSince(log, event, sound)) ? null : 'the whole result that it names is missing'
  return sound ? null : 'the whole result that it names is not the one that was stored'
}

/**
 * The events of a stream with their blobs (null: the blob is missing). When a body is erased, a second pass reads the
 * events appended since, because the fact that names the body may be among them.
 */
async function* wholeStream({ log, blobs }: Stores, stream: string) {
  let erased = false
  for (let next = 0, pass = 1; pass === 1 || (pass === 2 && erased); pass++) {
    for await (const read of log.read(stream, { from: next })) {
      next += read.length
      const page: RecordedEvent[] = []
      const found = new Map<number, Uint8Array | null>()
      for (const event of read) {
        const { header } = event
        if (header.body.place !== 'blob' || event.erased) page.push(event)
        else {
          const blob = await blobs.get(ownerOf(header), header.body.hash).catch(missing)
          const isMissing = blob instanceof LogError
          found.set(header.revision, isMissing ? null : blob)
          page.push(isMissing && (await wasErasedSince(log, event, blob)) ? { ...event, erased: true } : event)
        }
        erased ||= page.at(-1)!.erased === true
      }
      yield { page, blobs: found }
    }
  }
}

/** Returns a BLOB_MISSING error; rethrows every other error. */
function missing(error: unknown): LogError {
  if (error instanceof LogError && error.code === 'BLOB_MISSING') return error
  throw error
}
