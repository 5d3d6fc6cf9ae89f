import { LogError } from '../../../domain/log/errors.ts'
import { unlessAborted } from '../../operations/concurrency/unless-aborted.ts'
import type { Tell } from '../../operations/notices.ts'
import type { Services } from '../../operations/services.ts'
import type { Readiness, Trouble } from '../../operations/system/readiness.ts'

/** How often the servers are looked at, and how soon again where one did not answer, ms. */
const LOOK_MS = { well: 5_000, doubtful: 1_000 }

/** A part that cannot be used: the report on it, by its trouble, and what is not possible without it. */
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

const BEGINS = {
  silent: (what: string, why: string) => `does not answer; ${what}; it all goes on by itself when it does (${why})`,
  unusable: (what: string, why: string) => `cannot be used; ${what}: ${why}`,
}
const ENDS = { silent: 'answers again', unusable: 'can be used again' }

interface Outage {
  readonly since: number
  /** The states that were reported to the operator, the last first. */
  readonly told: readonly (keyof typeof BEGINS)[]
}

/**
 * Tells once when a server does not answer or cannot be used, which is looked at twice, and once when it can be used again,
 * until the signal aborts. Rejects with `LOG_REPLACED` where another log has taken the place of the one that was opened.
 */
export async function tellOutages(
  { ready, clock }: Pick<Services, 'ready' | 'clock'>,
  tell: Tell,
  signal: AbortSignal,
): Promise<void> {
  const outages = new Map<keyof Readiness, Outage>()
  const look = (part: keyof Readiness, trouble: Trouble | null) => {
    const outage = outages.get(part)
    const { names, without } = PARTS[part]
    if (trouble === null) {
      outages.delete(part)
      const last = outage?.told[0]
      if (outage && last)
        tell(`${names[last]} ${ENDS[last]} after ${Math.round((clock.now() - outage.since) / 1000)} s`)
      return
    }
    const { state, why } = trouble
    if (state === 'replaced') throw new LogError('LOG_REPLACED', why)
    // Whoever found the loss reports it.
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
