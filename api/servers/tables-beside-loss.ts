import type { BlobStore, EventLog } from '../../domain/ports.ts'
import { type Home, Projections, rebuildElsewhere } from '../../projections/index.ts'
import type { Loss } from '../app/losses/loss.ts'
import { findLoss } from '../host/losses/find.ts'
import { LossGate } from '../host/losses/gate.ts'
import { LateTables, witnessTables } from '../host/losses/late-tables.ts'
import type { LossServices } from '../host/losses/losses-of-log.ts'
import type { Tables } from '../host/table-answers.ts'
import { comesBack } from './lost-tables.ts'

// The tables in PostgreSQL are the only witness of the log in EventStoreDB: its servers keep no mark for us.

interface Stores {
  readonly home: Home
  /** The same tables over connections that no long query takes. */
  readonly prompt: Home
  readonly log: EventLog
  readonly blobs: BlobStore
}

/** The events that the tables have seen and the log does not hold; null: none, or there are no tables that tell. */
export async function lossOnServers({ home, log }: Pick<Stores, 'home' | 'log'>): Promise<Loss | null> {
  if ((await home.live()) === null) return null
  try {
    return await findLoss({ log, mark: null, read: (query) => home.read(query) })
  } catch (error) {
    if (comesBack(error)) return null
    throw error
  }
}

interface BesideLoss {
  readonly tables: Tables
  readonly log: EventLog
  readonly losses: LossServices
  /** Looks whether another process has accepted the open loss; true: this one goes on. Rejects where the stores do not answer. */
  notice(): Promise<boolean>
}

/** The tables of a process on servers, and what it knows of losses. `open`: takes part in moving the tables. */
export async function tablesBesideLoss<T extends Tables>(stores: Stores, open: () => Promise<T>): Promise<BesideLoss> {
  const { home, prompt, log } = stores
  const gate = new LossGate(log, await lossOnServers(stores))
  const seen: Tables['read'] = (query) => home.read(query)
  // Tables that were dropped come back with the next process that moves them; until then they tell nothing.
  const seenHead: NonNullable<LossServices['seenHead']> = (query) =>
    prompt.read(query).catch((error: unknown) => {
      if (comesBack(error)) return { position: null, data: undefined }
      throw error
    })
  const tables =
    gate.loss === null ? new LateTables(await open()) : new LateTables(witnessTables(seen, log, gate), seen)
  let following: Promise<void> | null = gate.loss === null ? Promise.resolve() : null
  const follow = async () => tables.become(await open())
  const followOnce = () => {
    following ??= follow().catch((error: unknown) => {
      following = null
      throw error
    })
    return following
  }
  const losses: LossServices = {
    ...{ log, mark: null, read: tables.seen, seenHead, gate },
    accepting: (record) => record(),
    followed: async () => {
      if (following !== null) return void (await rebuildElsewhere(home, stores, { accept: true }))
      // They show more than the log holds: only opening them replaces such tables.
      await (await Projections.open({ ...stores, replaceNewer: true })).close()
      await followOnce()
    },
  }
  const notice = async () => {
    // The tables are replaced last: until then the acceptance is not recorded as a whole.
    if (gate.loss === null || (await lossOnServers(stores)) !== null) return false
    await followOnce()
    gate.loss = null
    return true
  }
  return { tables, log: gate.log, losses, notice }
}
