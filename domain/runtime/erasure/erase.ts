import type { Erase } from '../../agent/decisions/commands.ts'
import { CommandRejected } from '../../agent/errors.ts'
import { ATTACHING } from '../../agent/events/attachment.ts'
import { says } from '../../agent/events/residue.ts'
import type { SealedEvent } from '../../log/envelope.ts'
import { eraseImpossible } from '../../log/erased.ts'
import { ConflictError, LogError } from '../../log/errors.ts'
import { agentStream, keyOf } from '../../log/ids.ts'
import { ownerOf } from '../../log/owner.ts'
import type { BlobIntent } from '../../ports.ts'
import { attachmentIn } from '../history/attachments.ts'
import { bodyOf, type Stores } from '../history/bodies.ts'
import type { Asking } from '../journal.ts'
import { revisionChanged } from '../mailbox.ts'
import type { RuntimePorts } from '../ports.ts'
import { isRepeated } from '../repeated.ts'
import type { ErasableBody, ErasureChoice } from '../types.ts'
import { sealErasure, type Target } from './erasure-events.ts'
import { removeUnnamed } from './unnamed-blobs.ts'

// Erasure folds nothing: what was erased before, or cannot be read, must not stand in the way of erasing more.

const MAX_TRIES = 10

/** The most bodies that one append empties. */
export const MAX_ERASED = 1_024

/**
 * Empties bodies of a finished run for ever, some per append, each append with the facts that name them. Asked again it
 * makes sure that nothing is left. Reads the stream once, or again where somebody else has written to it meanwhile.
 * Rejects with ERASE_IMPOSSIBLE, RUN_UNKNOWN, EVENT_UNKNOWN, RUN_ACTIVE, NOT_ERASABLE, or REVISION_CHANGED where the agent
 * is not at the `expected` revision, or IDEMPOTENCY_KEY_REUSED. `forget`: what was erased is to be remembered nowhere;
 * called around each append, also one of which nobody knows what became of it. Blobs that are about to go are noted
 * before, as are those that are about to come: where the process ends in between, the next start removes those whose
 * erasure is in the log.
 */
export async function erase(
  ports: RuntimePorts,
  agentId: string,
  what: Erase,
  asking: Asking,
  { expected, forget }: { readonly expected?: number; readonly forget: () => Promise<void> },
): Promise<{ revision: number; recorded: boolean }> {
  let found = await look(ports, agentId, what, asking.commandId)
  let recorded = false
  const attached = new Map<string, BlobIntent>()
  if (expected !== undefined && expected !== found.last.header.revision && found.targets.some(({ erased }) => !erased))
    throw revisionChanged(agentId, found.last.header.revision)
  await forget()
  for (let tries = 1; ; ) {
    const next = found.targets.filter(({ erased }) => !erased).slice(0, MAX_ERASED)
    if (next.length === 0) break
    try {
      const runId = ownerOf(found.last.header)
      const named = await attachedTo(ports, found.last.header.stream, next)
      for (const hash of named) attached.set(hash, { stream: found.last.header.stream, runId, hash })
      await ports.intents?.begin([...intentsOf(found.last, next), ...attached.values()])
      const last = await sealErasure(ports, found.last, next, what.reason, asking).finally(forget)
      recorded = true
      const gone = next.at(-1)!.revision
      found = { last, targets: found.targets.map((one) => (one.revision <= gone ? { ...one, erased: true } : one)) }
    } catch (error) {
      if (!(error instanceof ConflictError) || tries++ >= MAX_TRIES) throw error
      found = await look(ports, agentId, what, asking.commandId)
    }
  }
  const blobs = [...intentsOf(found.last, found.targets), ...attached.values()]
  for (const { runId, hash } of blobs) await ports.blobs.delete(runId, hash)
  await ports.intents?.end(blobs).catch(() => undefined)
  if (what.all) await removeUnnamed(ports, ownerOf(found.last.header))
  return { revision: found.last.header.revision, recorded }
}

const intentsOf = ({ header }: SealedEvent, targets: readonly Target[]): BlobIntent[] => {
  const { stream } = header
  const runId = ownerOf(header)
  return targets.flatMap(({ blob, bodyHash: hash }) => (blob ? [{ stream, runId, hash }] : []))
}

/** Addresses of the whole results that the targets (in order) name. A body that cannot be read names none. */
async function attachedTo(stores: Stores, stream: string, targets: readonly ErasableBody[]): Promise<string[]> {
  const wanted = new Set(targets.filter(({ type }) => ATTACHING.has(type)).map(({ revision }) => revision))
  if (wanted.size === 0) return []
  const [from, to] = [Math.min(...wanted), Math.max(...wanted)]
  const hashes: string[] = []
  for await (const page of stores.log.read(stream, { from, limit: to - from + 1 })) {
    for (const event of page) {
      if (!wanted.has(event.header.revision)) continue
      const bytes = await bodyOf(stores, event).catch(unreadable)
      const attachment = attachmentIn(event.header, bytes)
      if (attachment !== undefined) hashes.push(attachment.hash)
    }
  }
  return hashes
}

function unreadable(error: unknown): null {
  if (error instanceof LogError && UNREADABLE.has(error.code)) return null
  throw error
}
const UNREADABLE: ReadonlySet<LogError['code']> = new Set(['BLOB_MISSING', 'LOG_CORRUPT', 'BODY_ERASED'])

/** What {@link erase} would empty now. Rejects as it does. */
export async function erasable(ports: Pick<RuntimePorts, 'log'>, agentId: string, which: ErasureChoice) {
  const { last, targets } = await look(ports, agentId, which)
  const bodies = targets
    .filter(({ erased }) => !erased)
    .map(({ revision, type, turn, size }): ErasableBody => ({ revision, type, turn, size }))
  return { revision: last.header.revision, bodies }
}

/** The stream's last event, and what is to be erased, in order. */
async function look(ports: Pick<RuntimePorts, 'log'>, agentId: string, what: ErasureChoice, commandId?: string) {
  if (!ports.log.erases) throw eraseImpossible()
  let last: SealedEvent | null = null
  let ended = false
  let inTurn = false
  const targets: (Target & ErasableBody)[] = []
  const { revision: from = 0, to = what.all ? Number.POSITIVE_INFINITY : from } = what
  const one = from === to
  const key = keyOf(commandId ?? '')
  for await (const page of ports.log.read(agentStream(agentId), { bodies: false })) {
    for (const event of page) {
      const { type, turn, revision, body } = event.header
      last = event
      if (type === 'turn_start') inTurn = true
      else if (type === 'turn_end') inTurn = false
      // A model attempt that failed is an `error` in an open turn; a run ends outside of one, also where its body is erased.
      else if (type === 'completion' || (type === 'error' && !inTurn)) ended = true
      if (key !== null && keyOf(event.header.commandId) === key) isRepeated(event.header.commandId, commandId!)
      if (revision < from || revision > to) continue
      if (one && REFERENCES.has(type))
        throw new CommandRejected('NOT_ERASABLE', `${type} holds nothing but references and cannot be erased`)
      if (one || says(type))
        targets.push({
          ...{ revision, type, turn, size: body.size, bodyHash: body.hash },
          ...{ blob: body.place === 'blob', erased: event.erased === true },
        })
    }
  }
  if (last === null) throw new CommandRejected('RUN_UNKNOWN', `there is no agent ${agentId}`, 404)
  if (from > last.header.revision || (to > last.header.revision && !what.all))
    throw new CommandRejected('EVENT_UNKNOWN', `${agentId} has no event at revision ${Math.max(from, to)}`, 404)
  if (!ended) throw new CommandRejected('RUN_ACTIVE', 'only a finished run can be erased from; cancel it first')
  return { last, targets }
}

const REFERENCES: ReadonlySet<string> = new Set(['erased', 'residue'])
