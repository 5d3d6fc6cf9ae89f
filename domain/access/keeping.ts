import { z } from 'zod'
import { idOf, KINDS_OF_RUNS, kindOf } from '../log/owner.ts'
import type { Emit, EventsOf } from '../stream/emitter.ts'
import type { Doomed } from '../stream/erasure.ts'
import { StreamError } from '../stream/errors.ts'
import { EMPTY, entries, entry, type Table, withEntry } from '../stream/table.ts'

// Retention and legal holds: which texts go after which time, and which must stay.

/** The subjects of a retention. `run`: with all its agents; `external`: a run of another agent that no run started. */
export const KEPT = ['run', 'external', 'document', 'memory', 'store'] as const
export type Kept = (typeof KEPT)[number]

export const HoldId = z.string().regex(/^[0-9a-hjkmnp-tv-z]{8}$/)

/** The longest retention in days. */
export const MAX_DAYS = 36_500

/** Storage format: the events of `access-keeping`. */
export const keepingBodies = {
  /** Texts of this subject are erased `days` days after its end or last change; null: never by policy. */
  retention_set: z.strictObject({ of: z.enum(KEPT), days: z.int().min(0).max(MAX_DAYS).nullable() }),
  /** The texts of a stream must stay. `of`: its name; that of a run's root agent stands for the whole run. */
  hold_set: z.strictObject({ hold: HoldId, of: z.string().min(1), reason: z.string().min(1) }),
  hold_lifted: z.strictObject({ hold: HoldId, reason: z.string().nullable() }),
} as const

export type KeepingEvent = EventsOf<typeof keepingBodies>

/** A change with its author, as texts such as `user:ann`, and its time in ms. */
interface Change {
  readonly by: string
  readonly at: number
}

export interface Retention extends Change {
  readonly of: Kept
  readonly days: number | null
}

export interface Hold extends Change {
  readonly id: string
  /** The name of the stream. */
  readonly of: string
  readonly reason: string
  readonly lifted: (Change & { readonly reason: string | null }) | null
}

export interface KeepingState {
  readonly retention: Readonly<Partial<Record<Kept, Retention>>>
  readonly holds: Table<Hold>
}

export const NOTHING_KEPT: KeepingState = { retention: {}, holds: EMPTY }

export const isKeepingEvent = (event: { readonly type: string }): event is KeepingEvent =>
  Object.hasOwn(keepingBodies, event.type)

/** The state after an event. Throws if the event cannot follow. */
export function evolveKeeping<State extends KeepingState>(state: State, event: KeepingEvent): State {
  const { type, body, at } = event
  const change = { by: `${event.actor.kind}:${event.actor.id}`, at }
  switch (type) {
    case 'retention_set':
      return { ...state, retention: { ...state.retention, [body.of]: { ...body, ...change } } }
    case 'hold_set': {
      const { hold: id, of, reason } = body
      if (entry(state.holds, id) !== undefined) throw new Error(`the hold ${id} was set before`)
      return { ...state, holds: withEntry(state.holds, id, { id, of, reason, ...change, lifted: null }) }
    }
    case 'hold_lifted': {
      const hold = entry(state.holds, body.hold)
      if (hold === undefined || hold.lifted !== null) throw new Error(`the hold ${body.hold} is not in force`)
      const lifted = { ...change, reason: body.reason }
      return { ...state, holds: withEntry(state.holds, hold.id, { ...hold, lifted }) }
    }
  }
}

export type KeepingCommand =
  | { readonly kind: 'set_retention'; readonly of: Kept; readonly days: number | null }
  | { readonly kind: 'set_hold'; readonly hold: string; readonly of: string; readonly reason: string }
  | { readonly kind: 'lift_hold'; readonly hold: string; readonly reason: string | null }

const COMMANDS: readonly string[] = ['set_retention', 'set_hold', 'lift_hold'] satisfies KeepingCommand['kind'][]

export const isKeepingCommand = (command: { readonly kind: string }): command is KeepingCommand =>
  COMMANDS.includes(command.kind)

export function decideKeeping(
  state: KeepingState | null,
  command: KeepingCommand,
  emit: Emit<typeof keepingBodies>,
): void {
  const { retention, holds } = state ?? NOTHING_KEPT
  switch (command.kind) {
    case 'set_retention': {
      const { of, days } = command
      if ((retention[of]?.days ?? null) !== days) emit('retention_set', { of, days })
      return
    }
    case 'set_hold': {
      const { hold, of, reason } = command
      if (entry(holds, hold) !== undefined)
        throw new StreamError('HOLD_EXISTS', `the hold ${hold} exists; set it again to get another id`)
      return emit('hold_set', { hold, of, reason })
    }
    case 'lift_hold': {
      const hold = entry(holds, command.hold)
      if (hold === undefined)
        throw new StreamError('HOLD_UNKNOWN', `there is no hold ${command.hold}; list the holds to find it`, {
          why: 'absent',
        })
      if (hold.lifted === null) emit('hold_lifted', { hold: hold.id, reason: command.reason })
      return
    }
  }
}

/** A part of a stream that a fork continues, up to a revision. Infinity: the whole stream. */
export interface Inherited {
  readonly stream: string
  readonly to: number
}

/**
 * Whether a hold on the stream `of` covers one of the bodies. `inherited`: the parts of other streams that the run
 * of `of` continues as a fork.
 */
export function covers(of: string, inherited: readonly Inherited[], { stream, run, revisions }: Doomed): boolean {
  if (of === stream || (run !== null && isOfRun(of, run))) return true
  return inherited.some((part) => part.stream === stream && revisions.some((revision) => revision <= part.to))
}

const isOfRun = (of: string, run: string): boolean => KINDS_OF_RUNS.includes(kindOf(of)) && idOf(of) === run

/** The holds, oldest first. */
export const holdsOf = ({ holds }: KeepingState): readonly Hold[] =>
  entries(holds).sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))

const DAY_MS = 86_400_000

/** The time before which a subject must have ended or changed to be erased now; null: nothing is erased by policy. */
export function erasedBefore({ retention }: KeepingState, of: Kept, now: number): number | null {
  const days = retention[of]?.days ?? null
  return days === null ? null : now - days * DAY_MS
}
