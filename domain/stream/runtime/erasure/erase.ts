import type { Actor, SealedEvent } from '../../../log/envelope.ts'
import { ERASED_FACT, eraseImpossible } from '../../../log/erased.ts'
import { ConflictError, LogError } from '../../../log/errors.ts'
import { keyOf } from '../../../log/ids.ts'
import { idOf, KINDS_ABOUT_RUNS, KINDS_OF_RUNS, kindOf, ownerOf } from '../../../log/owner.ts'
import type { BlobIntent } from '../../../ports/index.ts'
import { type Doomed, MAX_ERASED, RESIDUE } from '../../erasure.ts'
import { bodyOf } from '../bodies.ts'
import { isRepeated } from '../idempotency-keys.ts'
import { revisionChanged } from '../mailbox.ts'
import type { Stores, StreamPorts } from '../ports.ts'
import { recordErasure } from './facts.ts'
import type { Asker, Erasable, ErasableBody, ErasureChoice, ErasureReason, Target } from './types.ts'
import { removeUnnamed } from './unnamed-blobs.ts'

// Erasure folds nothing: erased or unreadable bodies must not prevent the erasure of others.

const MAX_TRIES = 10

/**
 * Empties bodies of a finished stream permanently, at most {@link MAX_ERASED} per append, with the facts that name
 * them. A repeated call finishes an interrupted erasure. Reads the stream once, and again after a conflict with another
 * writer. Rejects with HELD, NOT_YOUR_OWN, ERASE_IMPOSSIBLE, RUN_UNKNOWN, EVENT_UNKNOWN, RUN_ACTIVE, NOT_ERASABLE, IDEMPOTENCY_KEY_REUSED,
 * with REVISION_CHANGED when the stream is not at the `expected` revision, or with the tenth ConflictError. `forget`:
 * drops the erased bodies from memory; called before the first append and after each one, even when its outcome is
 * unknown. The request cache and the past tables are cleared, because they may contain erased text. Intents record the blobs before
 * they are deleted: if the process ends in between, the next start deletes the blobs whose erasure is in the log.
 */
export async function erase(
  ports: StreamPorts,
  aggregate: Erasable,
  stream: string,
  what: ErasureChoice & ErasureReason,
  asker: Asker,
  { expected, forget }: { readonly expected?: number; readonly forget: () => Promise<void> },
): Promise<{ revision: number; recorded: boolean }> {
  let found = await look(ports, aggregate, stream, what, asker.commandId)
  let recorded = false
  const attached = new Map<string, BlobIntent>()
  await ports.holds?.mustBeFree(doomed(found), asker.by)
  if (expected !== undefined && expected !== found.last.header.revision && found.targets.some(({ erased }) => !erased))
    throw revisionChanged(aggregate, stream, found.last.header.revision)
  await forget()
  for (let tries = 1; ; ) {
    const next = found.targets.filter(({ erased }) => !erased).slice(0, MAX_ERASED)
    if (next.length === 0) break
    try {
      const runId = ownerOf(found.last.header)
      const named = await attachedTo(ports, aggregate, stream, next)
      for (const hash of named) attached.set(hash, { stream, runId, hash })
      await ports.intents?.begin([...intentsOf(found.last, next), ...attached.values()])
      const { last: head } = found
      const empty = () => recordErasure(ports, aggregate, head, next, what, asker).finally(forget)
      const last = await (ports.holds?.emptying(doomed({ last: head, targets: next }), asker.by, empty) ?? empty())
      recorded = true
      const gone = next.at(-1)!.revision
      found = { last, targets: found.targets.map((one) => (one.revision <= gone ? { ...one, erased: true } : one)) }
    } catch (error) {
      if (!(error instanceof ConflictError) || tries++ >= MAX_TRIES) throw error
      found = await look(ports, aggregate, stream, what, asker.commandId)
    }
  }
  const blobs = [...intentsOf(found.last, found.targets), ...attached.values()]
  for (const { runId, hash } of blobs) await ports.blobs.delete(runId, hash)
  await ports.intents?.end(blobs).catch(() => undefined)
  await ports.pastTables?.clear()
  await ports.cache?.clear()
  if (what.all) await removeUnnamed(ports, aggregate, found.last.header)
  return { revision: found.last.header.revision, recorded }
}

function doomed({ last: { header }, targets }: Found): Doomed {
  const { stream, runId } = header
  const kind = kindOf(stream)
  const run = KINDS_OF_RUNS.includes(kind) ? runId : KINDS_ABOUT_RUNS.includes(kind) ? idOf(stream) : undefined
  return { stream, run: run ?? null, revisions: targets.map(({ revision }) => revision) }
}

const intentsOf = ({ header }: SealedEvent, targets: readonly Target[]): BlobIntent[] => {
  const { stream } = header
  const runId = ownerOf(header)
  return targets.flatMap(({ blob, bodyHash: hash }) => (blob ? [{ stream, runId, hash }] : []))
}

/** The addresses of the attachments that the targets name. An unreadable body names none. */
async function attachedTo(
  stores: Stores,
  { attaching, attachment }: Erasable,
  stream: string,
  targets: readonly ErasableBody[],
): Promise<string[]> {
  const wanted = new Set(targets.filter(({ type }) => attaching?.has(type)).map(({ revision }) => revision))
  if (wanted.size === 0) return []
  const [from, to] = [Math.min(...wanted), Math.max(...wanted)]
  const hashes: string[] = []
  for await (const page of stores.log.read(stream, { from, limit: to - from + 1 })) {
    for (const event of page) {
      if (!wanted.has(event.header.revision)) continue
      const bytes = await bodyOf(stores, event).catch(unreadable)
      const named = bytes && attachment?.(event.header, bytes)
      if (named) hashes.push(named.hash)
    }
  }
  return hashes
}

function unreadable(error: unknown): null {
  if (error instanceof LogError && UNREADABLE.has(error.code)) return null
  throw error
}
const UNREADABLE: ReadonlySet<LogError['code']> = new Set(['BLOB_MISSING', 'LOG_CORRUPT', 'BODY_ERASED'])

/** The bodies that {@link erase} would empty now. Rejects as {@link erase} does; with `by` null, not with NOT_YOUR_OWN. */
export async function erasable(
  ports: Pick<StreamPorts, 'log' | 'holds'>,
  aggregate: Erasable,
  stream: string,
  which: ErasureChoice,
  by: Actor | null = null,
) {
  const { last, targets } = await look(ports, aggregate, stream, which)
  await ports.holds?.mustBeFree(doomed({ last, targets }), by)
  const bodies = targets
    .filter(({ erased }) => !erased)
    .map(({ revision, type, turn, size }): ErasableBody => ({ revision, type, turn, size }))
  return { revision: last.header.revision, bodies }
}

/** The stream's last event, and the bodies to erase, in order. */
interface Found {
  readonly last: SealedEvent
  readonly targets: readonly Target[]
}

async function look(
  ports: Pick<StreamPorts, 'log'>,
  aggregate: Erasable,
  stream: string,
  what: ErasureChoice,
  commandId?: string,
): Promise<Found> {
  const { reject, erasing } = aggregate
  const ending = erasing.ending()
  if (!ports.log.erases) throw eraseImpossible()
  let last: SealedEvent | null = null
  const targets: Target[] = []
  const { revision: from = 0, to = what.all ? Number.POSITIVE_INFINITY : from } = what
  const one = from === to
  const key = keyOf(commandId ?? '')
  for await (const page of ports.log.read(stream, { bodies: false })) {
    for (const event of page) {
      const { type, turn, revision, body } = event.header
      last = event
      ending.see(event.header)
      if (key !== null && keyOf(event.header.commandId) === key)
        isRepeated(aggregate, event.header.commandId, commandId!)
      if (revision < from || revision > to) continue
      if (one && REFERENCES.has(type))
        throw reject('NOT_ERASABLE', `${type} holds nothing but references and cannot be erased`)
      if (one || (erasing.says(type) && what.only?.has(revision) !== false))
        targets.push({
          ...{ revision, type, turn, size: body.size, bodyHash: body.hash },
          ...{ blob: body.place === 'blob', erased: event.erased === true },
        })
    }
  }
  if (last === null) throw reject('RUN_UNKNOWN', `there is no ${stream.replace('-', ' ')}`)
  if (from > last.header.revision || (to > last.header.revision && !what.all))
    throw reject('EVENT_UNKNOWN', `${idOf(stream)} has no event at revision ${Math.max(from, to)}`)
  if (!ending.ended) throw reject('RUN_ACTIVE', 'only a finished run can be erased from; cancel it first')
  return { last, targets }
}

const REFERENCES: ReadonlySet<string> = new Set([ERASED_FACT, RESIDUE])
