import { LogError } from '../../../domain/log/errors.ts'
import { unlessAborted } from '../../operations/concurrency/unless-aborted.ts'
import type { Tell } from '../../operations/notices.ts'
import type { Services } from '../../operations/services.ts'
import type { Readiness, Trouble } from '../../operations/system/readiness.ts'

/** The pauses between two checks of the servers, in ms: normally, and after a server did not answer. */
const LOOK_MS = { well: 5_000, doubtful: 1_000 }

/** The name of each part on servers, by kind of trouble, and the consequence of its loss. */
const PARTS = {
  log: {
    names: { silent: 'the event store', unusable: 'the event store' },
    without: 'nothing is recorded, and nothing new is begun',
  },
  tables: {
    names: { silent: 'PostgreSQL', unusable: 'what is in PostgreSQL' },
    without: 'runs cannot be shown or taken over',
  },
} as const satisfies Record<keyof Readiness, object>

/** The names of the parts in a data folder. */
const EMBEDDED = { log: 'the log', tables: 'the tables' } as const satisfies Record<keyof Readiness, string>

const BEGINS = {
  silent: (what: string, why: string) => `does not answer; ${what}; it all goes on by itself when it does (${why})`,
  unusable: (what: string, why: string) => `cannot be used; ${what}: ${why}`,
}
const ENDS = { silent: 'answers again', unusable: 'can be used again' }

interface Outage {
  readonly since: number
  /** The states reported to the operator, the last first. */
  readonly told: readonly (keyof typeof BEGINS)[]
}

/**
 * Reports once when a server does not answer or is not usable, after two checks, and once when it is usable again,
 * until the signal aborts. Rejects with `LOG_REPLACED` if another log has replaced the open one.
 */
export async function tellOutages(
  { ready, clock, holder }: Pick<Services, 'ready' | 'clock' | 'holder'>,
  tell: Tell,
  signal: AbortSignal,
): Promise<void> {
  const outages = new Map<keyof Readiness, Outage>()
  const look = (part: keyof Readiness, trouble: Trouble | null) => {
    const outage = outages.get(part)
    const { names: onServers, without } = PARTS[part]
    const names = holder === null ? { silent: EMBEDDED[part], unusable: EMBEDDED[part] } : onServers
    if (trouble === null) {
      outages.delete(part)
      const last = outage?.told[0]
      if (outage && last)
        tell(`${names[last]} ${ENDS[last]} after ${Math.round((clock.now() - outage.since) / 1000)} s`)
      return
    }
    const { state, why } = trouble
    if (state === 'replaced') throw new LogError('LOG_REPLACED', why)
    // The process that found the loss reports it.
    if (state === 'shortened') return
    if (outage === undefined) outages.set(part, { since: clock.now(), told: [] })
    else if (!outage.told.includes(state)) {
      tell(`${names[state]} ${BEGINS[state](without, why)}`)
      outages.set(part, { ...outage, told: [state, ...outage.told] })
    }
  }
  while (!signal.aborted) {
    const found = await unlessAborted(ready(), signal).catch(() => null)
    if (found === null) return
    look('log', found.log)
    look('tables', found.tables)
    await clock.sleep(outages.size > 0 ? LOOK_MS.doubtful : LOOK_MS.well, signal).catch(() => undefined)
  }
}
