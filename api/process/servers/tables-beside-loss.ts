import type { Cursor } from '../../../domain/log/cursor.ts'
import { LogError } from '../../../domain/log/errors.ts'
import type { BlobStore, Clock, EventLog } from '../../../domain/ports/index.ts'
import type { TreeStore } from '../../../domain/ports/proof.ts'
import { type Home, Projections, rebuildElsewhere } from '../../../projections/index.ts'
import type { Loss } from '../../operations/losses/loss.ts'
import { findLoss, headsAhead, logContains } from '../host/losses/find-loss.ts'
import { LateTables, witnessTables } from '../host/losses/late-tables.ts'
import { LossGate } from '../host/losses/loss-gate.ts'
import type { LossServices } from '../host/losses/losses-of-log.ts'
import type { Tables } from '../tables/table-answers.ts'
import { comesBack } from './lost-tables.ts'

// The servers store no mark for keepup. Evidence of a lost end is in the PostgreSQL tables, in the signed heads and in the
// memory of running processes.

interface Stores {
  readonly home: Home
  /** The same tables over connections without long queries. */
  readonly prompt: Home
  readonly log: EventLog
  readonly blobs: BlobStore
  /** Null: it cannot be opened. */
  readonly tree: TreeStore | null
}

/** A process's memory of a log that was replaced by an older state while the process ran. */
interface LostEnd {
  /** The last event that this process has seen and the log has lost. Null: none. */
  readonly lost: Cursor | null
  /** Allows appends again. The caller has recorded the {@link lost} event. */
  settle(): void
}

interface Running<T> {
  /** Joins the processes that update the tables. */
  open(): Promise<T>
  readonly clock: Clock
  /** The events of the log that this process has seen. */
  readonly memory: LostEnd
}

/**
 * The pause before the second check, in ms. A cluster may have two leaders for 2.4 s, and the old leader serves an
 * older state.
 */
const CONFIRM_MS = 3_000

/**
 * The loss that the evidence shows. Null: none is known. `unheld`: the last event that this process has seen and the
 * log has lost.
 */
export async function lossOnServers(
  { home, log, tree }: Pick<Stores, 'home' | 'log' | 'tree'>,
  unheld: Cursor | null = null,
): Promise<Loss | null> {
  const mark = unheld && { position: unheld.position, hash: unheld.hash }
  const heads = await headsAhead(log, tree)
  const unread = () => findLoss({ log, mark, heads, read: null })
  if ((await home.live()) === null) return unread()
  try {
    return await findLoss({ log, mark, heads, read: (query) => home.read(query) })
  } catch (error) {
    if (comesBack(error)) return unread()
    throw error
  }
}

export interface BesideLoss {
  readonly tables: Tables
  readonly log: EventLog
  readonly losses: LossServices
  /**
   * Checks whether the log has lost its end, or whether an open loss was accepted. Rejects if the stores do not answer.
   */
  look(): Promise<void>
  /** Throws the reason why this process may not record. Does not throw while the process records an acceptance. */
  mustRecord(): void
}

/** The tables of a process on servers, and the handling of losses. */
export async function tablesBesideLoss<T extends Tables & { close(): Promise<void> }>(
  stores: Stores,
  { open, clock, memory }: Running<T>,
): Promise<BesideLoss> {
  const { home, prompt, log, tree } = stores
  const gate = new LossGate(log, await lossOnServers(stores), { mayLose: true })
  const seen: Tables['read'] = (query) => home.read(query)
  // Dropped tables give no evidence until the next process that updates tables rebuilds them.
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
  /** The last event that this process has seen and the log has lost. */
  let unheld: Cursor | null = null
  let isAccepting = false
  /** The loss was found after the start, so the memory of this process may contain lost events. */
  let isLate = false

  const found = async (): Promise<Loss | null> => {
    unheld = memory.lost
    if (unheld !== null && (await logContains(log, unheld))) unheld = null
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
  /** Whether the loss was accepted or undone. Only this process knows of a loss without evidence in the tables. */
  const isOver = async ({ tables: witness }: Loss) =>
    (await lossOnServers(stores)) === null && (unheld === null || witness !== null || (await logContains(log, unheld)))

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
    ...{ log, tree, read: tables.seen, seenHead, gate },
    get mark() {
      return unheld && { position: unheld.position, hash: unheld.hash }
    },
    get heads() {
      return gate.loss?.heads
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
      // The tables are ahead of the log. Only opening them replaces such tables.
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
