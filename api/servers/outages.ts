import type { Tell } from '../host/told.ts'
import type { Readiness } from '../runs/readiness.ts'
import type { Services } from '../services.ts'

/** How often the servers are looked at, and how soon again where one did not answer, ms. */
const LOOK_MS = { well: 5_000, doubtful: 1_000 }

const PARTS = {
  log: { name: 'the event store', without: 'nothing is recorded, and nothing new is begun' },
  tables: { name: 'PostgreSQL', without: 'nobody can look at runs or take them over' },
} as const satisfies Record<keyof Readiness, object>

/** `told`: whoever runs this process knows of it. */
interface Outage {
  readonly since: number
  readonly told: boolean
}

/** Tells once when a server does not answer, which is looked at twice, and once when it does again, until the signal aborts. */
export async function tellOutages(
  { ready, clock }: Pick<Services, 'ready' | 'clock'>,
  tell: Tell,
  signal: AbortSignal,
): Promise<void> {
  const outages = new Map<keyof Readiness, Outage>()
  const look = (part: keyof Readiness, why: string | null) => {
    const outage = outages.get(part)
    const { name, without } = PARTS[part]
    if (why === null) {
      outages.delete(part)
      if (outage?.told) tell(`${name} answers again after ${Math.round((clock.now() - outage.since) / 1000)} s`)
    } else if (outage === undefined) outages.set(part, { since: clock.now(), told: false })
    else if (!outage.told) {
      tell(`${name} does not answer; ${without}; it all goes on by itself when it does (${why})`)
      outages.set(part, { ...outage, told: true })
    }
  }
  while (!signal.aborted) {
    const { log, tables } = await ready()
    if (signal.aborted) return
    look('log', log)
    look('tables', tables)
    await clock.sleep(outages.size > 0 ? LOOK_MS.doubtful : LOOK_MS.well, signal).catch(() => undefined)
  }
}
