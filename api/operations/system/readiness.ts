import type { Clock, EventLog } from '../../../domain/ports/index.ts'
import { withinOr } from '../concurrency/within-or.ts'
import type { Losses } from '../losses/losses.ts'
import { operatorText } from '../notices.ts'
import { asProblem } from '../problem.ts'
import type { ReadModel } from '../read-model.ts'

/** Why a part is unusable. */
export interface Trouble {
  /**
   * `silent`: no answer, a temporary state; `unusable`: it reports a fault; `shortened`: it has lost its end, so it is
   * read-only; `replaced`: it is permanently a different one than this process opened.
   */
  readonly state: 'silent' | 'unusable' | 'shortened' | 'replaced'
  readonly why: string
  /** The tables were changed by another program. The next process that updates them makes them anew from the log. */
  readonly mends?: true
}

/** Null: usable. */
export interface Readiness {
  readonly log: Trouble | null
  readonly tables: Trouble | null
}

interface Asked {
  readonly log: Pick<EventLog, 'headCursor'>
  readonly losses: Pick<Losses, 'refusal'>
  readonly read: Pick<ReadModel, 'answers'>
  readonly clock: Clock
}

/** The time limit for an answer, in ms. */
const WITHIN_MS = 2_000

/** Checks log and tables. Concurrent calls share one request to each. */
export function readiness({ log, losses, read, clock }: Asked): () => Promise<Readiness> {
  const asks = [() => log.headCursor(), () => read.answers()].map((ask) => answering(ask, clock))
  return async () => {
    const [first, second] = await Promise.all(asks.map((ask) => ask()))
    const { refusal } = losses
    return { log: first ?? (refusal && troubleOf(refusal)), tables: second! }
  }
}

function answering(ask: () => Promise<unknown>, clock: Asked['clock']): () => Promise<Trouble | null> {
  let asking: Promise<Trouble | null> | null = null
  return async () => {
    asking ??= ask()
      .then(() => null, troubleOf)
      .finally(() => {
        asking = null
      })
    return withinOr(clock, WITHIN_MS, asking, { state: 'silent', why: `no answer within ${WITHIN_MS / 1000} s` })
  }
}

/** Codes of an absent server. */
const SILENT: readonly (string | undefined)[] = ['LOG_UNAVAILABLE', 'TABLES_UNAVAILABLE', 'TIME_LIMIT']

const STATES: Readonly<Record<string, Trouble['state']>> = { LOG_REPLACED: 'replaced', LOG_SHORTENED: 'shortened' }

function troubleOf(error: unknown): Trouble {
  const code = asProblem(error)?.code
  const state = STATES[code ?? ''] ?? (SILENT.includes(code) ? 'silent' : 'unusable')
  const why = operatorText(error).split('\n')[0]!
  return { state, why, ...(code === 'TABLES_SCHEMA_OTHER' && { mends: true }) }
}
