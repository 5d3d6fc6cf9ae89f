import { idOf, KINDS_OF_RUNS, kindOf } from '../../../domain/log/owner.ts'
import { GENESIS } from '../../../domain/log/seal.ts'
import { type StreamCoverage, streamCoverage } from '../../../domain/proof/runtime/coverage.ts'
import type { ProofProblem, StreamProof } from '../../../domain/stream/runtime/stream-proof.ts'
import type { AlteredRow } from '../../../projections/index.ts'
import { notFound } from '../problem.ts'
import type { Services } from '../services.ts'

type Proving = Pick<Services, 'log' | 'read' | 'runtime' | 'documents' | 'streams' | 'proof'>

/** The most rows of one stream in a proof. */
const MAX_ROWS = 50
/** The most UTF-16 code units of a value in a problem. */
const MAX_VALUE = 200

/**
 * Verifies a stream of any kind: its chain, bodies and digests, that the log contains everything that the tables have
 * seen, and that the rows in the tables match the events. Throws a 404 Problem if neither log nor tables contain the
 * stream.
 */
export const proveStream = (s: Proving, stream: string): Promise<WithHeads<StreamProof>> =>
  asStored(s, stream, () => prove(s, stream), NOTHING)

/** The proof of a stream without events. */
export const NOTHING: StreamProof = {
  ok: false,
  events: 0,
  head: GENESIS,
  digests: 0,
  unchecked: 0,
  erased: [],
  problems: [],
}

/** The last revision of a stream that the tables have seen; -1: none. */
async function seenRevision({ read }: Pick<Services, 'read'>, stream: string): Promise<number> {
  const { value } = await read.streams({ prefix: stream, limit: 1 })
  return value[0]?.stream === stream ? value[0].revision : -1
}

async function prove(s: Proving, stream: string): Promise<StreamProof> {
  if ((await s.log.head(stream)) === null) throw notFound('stream', stream, 'GET /v1/streams lists them')
  const [kind, id] = [kindOf(stream), idOf(stream)]
  if (KINDS_OF_RUNS.includes(kind)) return s.runtime.verify(id)
  if (kind === 'document') return s.documents.history.verify(id)
  return s.streams.verify(stream)
}

/**
 * Adds to a proof the comparison of the log with the tables (the last revision in them, and their rows) and with its
 * signed heads. `nothing`: the proof of a stream that the tables have seen and the log no longer contains.
 */
export async function asStored<T extends StreamProof>(
  s: Pick<Services, 'log' | 'read' | 'streams' | 'proof'>,
  stream: string,
  prove: () => Promise<T>,
  nothing: T,
): Promise<WithHeads<T>> {
  await s.read.current()
  // Read the tables first, because the log only grows.
  const seen = await seenRevision(s, stream)
  if (seen >= 0 && (await s.log.head(stream)) === null) return { ...asSeen(nothing, seen), proof: null }
  return withHeads(s, stream, await withRows(s, stream, asSeen(await prove(), seen)))
}

/** Adds to a proof whether the log contains the last revision in the tables. */
export function asSeen<T extends StreamProof>(found: T, seen: number): T {
  if (found.events > seen) return found
  const message = `the log ends before revision ${seen}, which the tables have seen: restore the log from a backup`
  return { ...found, ok: false, problems: [...found.problems, { revision: seen, code: 'CHAIN', message }] }
}

/**
 * Adds to a proof the comparison of the stored rows with the events. Skips this for an invalid stream, because its
 * events cannot be trusted.
 */
export async function withRows<T extends StreamProof>(s: Pick<Services, 'read'>, stream: string, found: T): Promise<T> {
  if (!found.ok) return found
  const altered = await s.read.altered(stream)
  if (altered.length === 0) return found
  const told = altered.slice(0, MAX_ROWS).map(alteredText)
  if (altered.length > MAX_ROWS) told.push(`${altered.length - MAX_ROWS} more rows differ`)
  const revision = found.events - 1
  const problems = told.map((message): ProofProblem => ({ revision, code: 'TABLE', message }))
  return { ...found, ok: false, problems: [...found.problems, ...problems] }
}

export type WithHeads<T extends StreamProof> = T & { readonly proof: StreamCoverage | null }

/** Adds to a proof how far signed and anchored heads of the log cover the stream. */
export async function withHeads<T extends StreamProof>(
  { log, streams, proof: { store } }: Pick<Services, 'log' | 'streams' | 'proof'>,
  stream: string,
  found: T,
): Promise<WithHeads<T>> {
  return { ...found, proof: store && (await streamCoverage({ log, store, streams }, stream, found.events)) }
}

/** An altered row in one sentence: table, key, and each column with both values. */
export function alteredText({ table, key, state, columns }: AlteredRow): string {
  const row = `${table} (${Object.entries(key)
    .map(([name, value]) => `${name} ${shown(value)}`)
    .join(', ')})`
  if (state === 'missing') return `the row of ${row} is missing`
  if (state === 'extra') return `the log gives no row of ${row}`
  return `${row}: ${columns
    .map(({ name, stored, folded }) => `${name} is ${shown(stored)} where the log gives ${shown(folded)}`)
    .join('; ')}`
}

function shown(value: string | number | null): string {
  const text = JSON.stringify(value)
  return text.length <= MAX_VALUE ? text : `${text.slice(0, MAX_VALUE)}…`
}
