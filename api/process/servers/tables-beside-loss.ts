import type { Cursor } from '../../../domain/log/cursor.ts'
import { LogError } from '../../../domain/log/errors.ts'
import type { BlobStore, Clock, EventLog } from '../../../domain/ports/index.ts'
import { type Home, Projections, rebuildElsewhere } from '../../../projections/index.ts'
import type { Loss } from '../../operations/losses/loss.ts'
import { findLoss, holds } from '../host/losses/find.ts'
import { LossGate } from '../host/losses/gate.ts'
import { LateTables, witnessTables } from '../host/losses/late-tables.ts'
import type { LossServices } from '../host/losses/losses-of-log.ts'
import type { Tables } from '../host/table-answers.ts'
import type { LostEnd } from './lost-end.ts'
import { comesBack } from './lost-tables.ts'

// The servers keep no mark for us. The witnesses of a lost end are the tables in PostgreSQL and the memory of a running process.

interface Stores {
  readonly home: Home
  /** The same tables over connections that no long query takes. */
  readonly prompt: Home
  readonly log: EventLog
  readonly blobs: BlobStore
}

interface Running<T> {
  /** Takes part in moving the tables. */
  open(): Promise<T>
  readonly clock: Clock
  /** What this process has seen of the log. */
  readonly memory: LostEnd
}

/** The pause before the second look, ms. A cluster may have two leaders for 2.4 s, and the old one serves an older state. */
const CONFIRM_MS = 3_000

/**
 * The loss of events that a witness has seen; null: none is known. `unheld`: the furthest event that this process has seen and
 * the log has lost.
 */
export async function lossOnServers(
  { home, log }: Pick<Stores, 'home' | 'log'>,
  unheld: Cursor | null = null,
): Promise<Loss | null> {
  const mark = unheld && { position: unheld.position, hash: unheld.hash }
  const unread = () => (mark === null ? null : findLoss({ log, mark, read: null }))
  if ((await home.live()) === null) return unread()
  try {
    return await findLoss({ log, mark, read: (query) => home.read(query) })
  } catch (error) {
    if (comesBack(error)) return unread()
    throw error
  }
}

export interface BesideLoss {
  readonly tables: Tables
  readonly log: EventLog
  readonly losses: LossServices
  /** Looks whether the log has lost its end, or whether an open loss was accepted. Rejects where the stores do not answer. */
  look(): Promise<void>
  /** Rejects with the reason why this process may not record, where it is not recording an acceptance. */
  mustRecord(): void
}

/** The tables of a process on servers, and its losses. */
export async function tablesBesideLoss<T extends Tables & { close(): Promise<void> }>(
  stores: Stores,
  { open, clock, memory }: Running<T>,
): Promise<BesideLoss> {
  const { home, prompt, log } = stores
  const gate = new LossGate(log, await lossOnServers(stores), { mayLose: true })
  const seen: Tables['read'] = (query) => home.read(query)
  // Tables that were dropped come back with the next process that moves them; until then they tell nothing.
  const seenHead: NonNullable<LossServices['seenHead']> = (query) =>
    prompt.read(query).catch((error: unknown) => {
      if (comesBack(error)) return { position: null, data: undefined }
      throw error
    })
  let moving = gate.loss === null ? await open() : null
  const tables = moving === null ? new LateTables(witnessTables(seen, log, gate), seen) : new LateTables(moving)
  const follow = async () => {
    moving ??= await open()
    tables.become(moving)
  }
  /** The furthest event that this process has seen and the log has lost. */
  let unheld: Cursor | null = null
  let isAccepting = false
  /** The loss was found after the start, so the memory of this process may contain lost events. */
  let isLate = false

  const found = async (): Promise<Loss | null> => {
    unheld = memory.lost
    if (unheld !== null && (await holds(log, unheld))) unheld = null
    if (unheld === null) memory.settle()
    return lossOnServers(stores, unheld)
  }
  const hold = () => {
    isLate = true
    memory.settle()
    tables.become(witnessTables(seen, log, gate), seen)
    void moving?.close()
    moving = null
  }
  const goOn = async () => {
    if (isLate) gate.over = mustRestart()
    else await follow()
    gate.loss = null
  }
  /** Whether the loss was accepted or undone. A loss without the witness of the tables is known to this process alone. */
  const isOver = async ({ tables: witness }: Loss) =>
    (await lossOnServers(stores)) === null && (unheld === null || witness !== null || (await holds(log, unheld)))

  const lookOnce = async () => {
    if (gate.over !== null) return
    if (gate.loss !== null) return (await isOver(gate.loss)) ? goOn() : undefined
    const loss = await found()
    if (loss === null) return
    await gate.confirm(loss, async () => {
      await clock.sleep(CONFIRM_MS)
      return found()
    })
    if (gate.loss !== null) hold()
  }
  let looking: Promise<void> | null = null
  const look = () => {
    looking ??= lookOnce().finally(() => {
      looking = null
    })
    return looking
  }

  const losses: LossServices = {
    ...{ log, read: tables.seen, seenHead, gate },
    get mark() {
      return unheld && { position: unheld.position, hash: unheld.hash }
    },
    accepting: async (record) => {
      isAccepting = true
      try {
        return await record()
      } finally {
        isAccepting = false
      }
    },
    followed: async () => {
      if (moving !== null) return void (await rebuildElsewhere(home, stores, { accept: true }))
      // They show more than the log holds: only opening them replaces such tables.
      await (await Projections.open({ ...stores, replaceNewer: true })).close()
      await goOn()
    },
  }
  const mustRecord = () => {
    if (gate.refusal !== null && !isAccepting) throw gate.refusal
  }
  return { tables, log: gate.log, losses, look, mustRecord }
}

const mustRestart = () =>
  new LogError(
    'LOG_REPLACED',
    'an older state of the log was put back while this process ran, and the loss was accepted; start this process again',
  )
