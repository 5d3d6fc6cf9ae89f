import type { Kysely } from 'kysely'
import { readAcceptedLosses } from '../../../../domain/agent/runtime/losses.ts'
import { Effect } from '../../../../domain/calls/tools/tool-spec.ts'
import type { Cursor } from '../../../../domain/log/cursor.ts'
import { isStreamDamage } from '../../../../domain/log/damage.ts'
import { LogError } from '../../../../domain/log/errors.ts'
import { agentStream } from '../../../../domain/log/ids.ts'
import { ifProofError } from '../../../../domain/log/proof/proof-error.ts'
import { unsalted } from '../../../../domain/log/seal.ts'
import type { EventLog } from '../../../../domain/ports/index.ts'
import type { TreeStore } from '../../../../domain/ports/proof.ts'
import { type Answer, callsOpenAfter, costAfter, type Database, seenHeads } from '../../../../projections/index.ts'
import { type Loss, type LostStream, lossId, type Seen } from '../../../operations/losses/loss.ts'
import { stillUnrecorded } from './unreadable.ts'

/** The evidence about the end of a log. */
export interface Witnesses {
  readonly log: EventLog
  /** The last event that the mark names, if the log does not contain it. */
  readonly mark: Seen | null
  /** The event of the last signed head, if the log does not contain it. Absent: it does, or there are no heads. */
  readonly heads?: Seen | undefined
  /** The position of the log's last event according to the mark. Null or absent: no mark. */
  marked?(): number | null
  /** Reads the tables as they were stored. Null: there are no readable tables. */
  readonly read: (<T>(query: (db: Kysely<Database>) => Promise<T>) => Promise<Answer<T>>) | null
  /** Positions without an event. Empty if the log cannot know them. */
  gaps?(): Promise<Loss['gaps']>
}

const PAGE = 500

/** Whether the log contains more than its identity event. */
export async function holdsEvents(log: EventLog): Promise<boolean> {
  for await (const page of log.readAll(null, { limit: 2, bodies: false })) return page.length > 1
  return false
}

/** Whether the log contains the event of a cursor. */
export async function logContains(log: EventLog, cursor: Cursor): Promise<boolean> {
  try {
    for await (const _ of log.readAll(cursor, { limit: 1, bodies: false })) break
    return true
  } catch (error) {
    if (error instanceof LogError && error.code === 'CURSOR_MISMATCH') return false
    throw error
  }
}

/** The last event of the signed tree. Undefined: the log contains it, or no tree can be read. */
export async function headsAhead(log: EventLog, tree: TreeStore | null): Promise<Seen | undefined> {
  const { cursor } = (await tree?.load().catch(ifProofError)) ?? {}
  if (cursor === undefined || cursor.logId !== log.logId || (await logContains(log, cursor))) return undefined
  return { position: cursor.position, hash: cursor.hash }
}

/**
 * The loss of the log that no person has accepted. Null: none. Without `full`, two reads suffice unless they find a
 * fault. With `full`, compares every stream with the tables and looks for gaps.
 */
export async function findLoss(witnesses: Witnesses, full = false): Promise<Loss | null> {
  const { log, mark, heads, read } = witnesses
  const shown = read === null ? null : (await read(async () => null)).position
  const ahead = shown !== null && shown.logId === log.logId && !(await logContains(log, shown)) ? shown : null
  if (mark === null && ahead === null && heads === undefined && !full) return null
  // Only a mark can prove that the tables contained all lost events.
  const unlisted = shown?.logId !== log.logId || (witnesses.marked?.() ?? null) !== shown.position
  const losses = await readAcceptedLosses(log)
  const vanished = new Set(losses.flatMap((loss) => loss.vanished.map(keyOf)))
  const accepted = new Set(losses.flatMap((loss) => loss.gaps.map(({ from, to }) => `${from}-${to}`)))
  const known =
    read === null || shown?.logId !== log.logId ? [] : await lostStreams(witnesses, read, unlisted, vanished)
  const streams = full ? [...known, ...(await unrecorded(log, losses, known))] : known
  const gaps = full ? ((await witnesses.gaps?.()) ?? []).filter(({ from, to }) => !accepted.has(`${from}-${to}`)) : []
  // Tables ahead of the log indicate a loss until they are replaced, which is the last step of its acceptance.
  if (mark === null && ahead === null && heads === undefined && streams.length === 0 && gaps.length === 0) return null
  const tables = ahead && { position: ahead.position, hash: ahead.hash }
  const end = (await log.headCursor()).position
  const seen = { mark, tables, ...(heads !== undefined && { heads }), streams, gaps }
  return { id: lossId(seen), end, ...seen, unlisted }
}

/** Streams that were unreadable when a loss was accepted. Their calls are unknown. */
async function unrecorded(
  log: EventLog,
  losses: Awaited<ReturnType<typeof readAcceptedLosses>>,
  known: readonly LostStream[],
): Promise<LostStream[]> {
  const left = (await stillUnrecorded(log, losses)).filter(({ stream }) => !known.some((one) => one.stream === stream))
  return left.map(({ stream, revision, code }) => {
    const at = Math.max(0, revision ?? 0)
    const place = { stream, runId: stream.replace(/^agent-/, ''), revision: at, kept: at, hash: '' }
    return { ...place, calls: [], unlisted: true, nanoDollars: 0, unreadable: code }
  })
}

const keyOf = ({ stream, revision, hash }: { stream: string; revision: number; hash: string }) =>
  `${stream}@${revision}@${hash}`

async function lostStreams(
  { log }: Witnesses,
  read: NonNullable<Witnesses['read']>,
  unlisted: boolean,
  accepted: ReadonlySet<string>,
): Promise<LostStream[]> {
  const found: LostStream[] = []
  for (let after = ''; ; ) {
    const { data: heads } = await read((db) => seenHeads(db, after, PAGE))
    for (const seen of heads) {
      if (accepted.has(keyOf(seen)) || (await holdsEvent(log, seen)) || (await acceptedIn(log, seen))) continue
      found.push(await lostStream(log, read, seen, unlisted))
    }
    const last = heads.at(-1)
    if (last === undefined || heads.length < PAGE) return found
    after = last.stream
  }
}

/**
 * Whether a stream contains this exact event. An unreadable stream is damaged, not shortened; its verification reports
 * the damage.
 */
export async function holdsEvent(
  log: EventLog,
  { stream, revision, hash }: { readonly stream: string; readonly revision: number; readonly hash: string },
): Promise<boolean> {
  try {
    for await (const [event] of log.read(stream, { from: revision, limit: 1, bodies: false }))
      return event?.hash === hash
  } catch (error) {
    if (!isStreamDamage(error)) throw error
    return true
  }
  return false
}

/** Whether the stream itself records the acceptance of this loss. */
async function acceptedIn(log: EventLog, seen: { stream: string; revision: number; hash: string }): Promise<boolean> {
  try {
    return await recordsLoss(log, seen)
  } catch (error) {
    if (!isStreamDamage(error)) throw error
    return false
  }
}

async function recordsLoss(log: EventLog, seen: { stream: string; revision: number; hash: string }): Promise<boolean> {
  for await (const page of log.read(seen.stream, { bodies: false })) {
    for (const { header } of page) {
      if (header.type !== 'loss_accepted') continue
      for await (const [event] of log.read(seen.stream, { from: header.revision, limit: 1 })) {
        const body = event?.body
          ? (JSON.parse(new TextDecoder().decode(unsalted(event.body))) as { hash?: unknown })
          : {}
        if (body.hash === seen.hash) return true
      }
    }
  }
  return false
}

async function lostStream(
  log: EventLog,
  read: NonNullable<Witnesses['read']>,
  { stream, revision, hash }: { stream: string; revision: number; hash: string },
  unlisted: boolean,
): Promise<LostStream> {
  const agentId = stream.replace(/^agent-/, '')
  const head = await log.head(stream)
  const kept = head?.revision ?? -1
  const place = { stream, runId: agentId, revision, hash, kept }
  // The stream has new events since the loss. The tables do not show the revision from which it differs.
  if (kept >= revision || stream !== agentStream(agentId))
    return { ...place, calls: [], unlisted: true, nanoDollars: 0 }
  const { data } = await read(async (db) => ({
    calls: await callsOpenAfter(db, agentId, kept),
    nanoDollars: await costAfter(db, agentId, kept),
  }))
  const calls = data.calls.flatMap(({ toolCallId, toolName, argumentsHash, effect }) => {
    if (toolName === null || argumentsHash === null) return []
    // A call with an unreadable effect counts as irreversible.
    const parsed = Effect.safeParse(effect)
    return [{ toolCallId, toolName, argumentsHash, effect: parsed.success ? parsed.data : ('irreversible' as const) }]
  })
  const some = calls.length < data.calls.length
  return { ...place, calls, unlisted: unlisted || some, nanoDollars: data.nanoDollars }
}
