import type { Clock, EventLog } from '../../../domain/ports/index.ts'
import { withinOr } from '../concurrency/within-or.ts'
import type { Losses } from '../losses/losses.ts'
import { told } from '../notices.ts'
import { asProblem } from '../problem.ts'
import type { ReadModel } from '../read-model.ts'

/** Why a part cannot be used. */
export interface Trouble {
  /**
   * `silent`: it does not answer, which passes by itself; `unusable`: it says why it is of no use; `shortened`: it has lost
   * its end, so it can only be read; `replaced`: it is another one than this process has opened, for good.
   */
  readonly state: 'silent' | 'unusable' | 'shortened' | 'replaced'
  readonly why: string
}

/** Null: it can be used. */
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

/** An answer that takes longer is none, ms. */
const WITHIN_MS = 2_000

/** Asks log and tables, each at most once at a time, however often and by how many that is asked. */
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

/** Of a server that is not there. */
const SILENT: readonly (string | undefined)[] = ['LOG_UNAVAILABLE', 'TABLES_UNAVAILABLE', 'TIME_LIMIT']

const STATES: Readonly<Record<string, Trouble['state']>> = { LOG_REPLACED: 'replaced', LOG_SHORTENED: 'shortened' }

function troubleOf(error: unknown): Trouble {
  const code = asProblem(error)?.code
  const state = STATES[code ?? ''] ?? (SILENT.includes(code) ? 'silent' : 'unusable')
  return { state, why: told(error).split('\n')[0]! }
}
