import type { FactOwner } from '../../../domain/calls/memory/request.ts'
import type { Actor } from '../../../domain/log/envelope.ts'
import { MemoryError } from '../../../domain/memory/errors.ts'
import type { MemoryEvent } from '../../../domain/memory/events.ts'
import { memoryStream } from '../../../domain/memory/fact.ts'
import type { StreamProof } from '../../../domain/stream/runtime/stream-proof.ts'
import { type MemoryRow, searchMemories, selectMemories, showMemory } from '../../../projections/index.ts'
import { camelCased, cursorIn, pageOf, positionAfter } from '../rows.ts'
import { untilShown } from '../runs/idempotency.ts'
import { mustWrite } from '../runs/record-command.ts'
import { actorOf, type RequestOptions, tracing } from '../runs/request-options.ts'
import type { Services } from '../services.ts'
import { asStored, NOTHING, type WithHeads } from '../streams/prove-stream.ts'
import type {
  CorrectMemory,
  ForgetMemory,
  Memory,
  MemoryChanged,
  MemoryHistory,
  MemoryList,
  MemoryQuery,
} from './schemas.ts'

// Operations on the facts that agents have saved, for people.

/** A fact in the form of the API. */
export const memoryOf = ({ started: _, words: __, place_word: ___, ...row }: MemoryRow): Memory => ({
  ...camelCased(row),
  scope: row.scope as Memory['scope'],
})

/** Facts, the latest first, or the results of a search, the best first. The tables must be caught up. */
export async function listMemories(s: Services, query: MemoryQuery): Promise<MemoryList> {
  const { limit, after, scope, place, q, forgotten } = query
  if (q === undefined) {
    const from = await positionAfter(s.log, after)
    const which = { scope, place, forgotten, after: from, limit: limit + 1 }
    const { position, value } = await s.read.rows((db) => selectMemories(db, which))
    const { page, next } = await pageOf(value, limit, ({ id }) => cursorIn(s.log, memoryStream(id), 0))
    return { position, memories: page.map(memoryOf), next }
  }
  const places: readonly FactOwner[] | null = scope === undefined ? null : [{ scope, place: place ?? '' }]
  const { position, value } = await s.read.rows((db) => searchMemories(db, places, q, limit))
  return { position, memories: value.map(memoryOf), next: null }
}

/** A fact with its history. Rejects with MEMORY_UNKNOWN. */
export async function memoryHistory(s: Services, id: string): Promise<MemoryHistory> {
  const { value } = await s.read.rows((db) => showMemory(db, id))
  const events = await s.memories.history(id)
  if (value === undefined) throw new MemoryError('MEMORY_UNKNOWN', `the tables do not show "${id}" yet; ask again`)
  return { memory: memoryOf(value), changes: events.flatMap(changeOf) }
}

/** Changes the text of a fact. */
export async function correctMemory(
  s: Services,
  id: string,
  { text, by }: CorrectMemory,
  options: RequestOptions,
): Promise<MemoryChanged> {
  mustWrite(s)
  const done = await s.memories.correct(id, text, personOf(by, options))
  await untilShown(s)
  return { id, ...done }
}

/** Forgets a fact, and erases its text on request. Idempotent. */
export async function forgetMemory(
  s: Services,
  id: string,
  { reason, code, erase, by }: ForgetMemory,
  options: RequestOptions,
): Promise<MemoryChanged> {
  mustWrite(s)
  const person = personOf(by, options)
  // A held fact is not forgotten either, because its text could not be erased afterwards.
  if (erase) await s.keeping.mustBeFree({ stream: memoryStream(id), run: null, revisions: [0] }, person.by)
  const forgotten = await s.memories.forget(id, reason ?? null, person)
  const erased = erase ? await s.memories.erase(id, { code, reason: reason ?? 'forgotten' }, person) : null
  await untilShown(s)
  return { id, revision: (erased ?? forgotten).revision, recorded: forgotten.recorded || erased?.recorded === true }
}

/** Verifies a fact like `asStored`. Rejects with `MEMORY_UNKNOWN`. */
export const verifyMemory = (s: Services, id: string): Promise<WithHeads<StreamProof>> =>
  asStored(s, memoryStream(id), () => s.memories.verify(id), NOTHING)

const personOf = (by: string | undefined, options: RequestOptions) => ({
  by: actorOf('user', by, options),
  ...tracing(options),
})

function changeOf(event: MemoryEvent): MemoryHistory['changes'] {
  const { type, revision, at, actor, toolCallId = null } = event
  if (type === 'residue') return []
  const body = event.body as { readonly text?: string | null; readonly reason?: string | null }
  const text = body.text ?? body.reason ?? null
  return [{ revision, type, at: new Date(at).toISOString(), by: textOf(actor), toolCallId, text }]
}

const textOf = ({ kind, id }: Actor): string => `${kind}:${id}`
