import type { Call } from '../../calls/call.ts'
import type { BodyOf } from '../events/events.ts'

// The state machine of one agent (seed 000, section 6).

/** The reservation for a model call; `nanoDollars` null: the price is not known. */
export type Estimate = BodyOf<'model_call_start'>['estimate']

/**
 * The run waits until a model serves again. `waitedMs`: total wait so far. `from`: start of the current attempt, ms.
 */
export interface Outage {
  readonly waitedMs: number
  readonly from?: number
}

/** Attempts of a turn that a rate limit delayed. Like lost attempts, they do not count as retries. */
interface Held {
  readonly held?: number
}

export type ModelStage =
  | { readonly at: 'unrouted' }
  | ({
      readonly at: 'routed'
      readonly model: string
      readonly attempt: number
      readonly lost: number
      readonly outage?: Outage
    } & Held)
  | ({
      readonly at: 'calling'
      readonly model: string
      readonly attempt: number
      /** Attempts of this turn whose driver died. They do not count as retries. */
      readonly lost: number
      readonly epoch: number
      readonly estimate: Estimate
      /** Revision of the intent. */
      readonly since: number
      readonly outage?: Outage
    } & Held)
  | ({
      readonly at: 'backoff'
      readonly model: string
      readonly attempt: number
      readonly lost: number
      readonly until: number
      /** Revision of the failure. */
      readonly since: number
      readonly outage?: Outage
      /** The delay is due to the provider's rate limit and does not count as work time. */
      readonly limited?: true
    } & Held)

export type TurnOutcome = BodyOf<'turn_end'>['outcome']

export interface Thinking {
  readonly status: 'THINKING'
  readonly model: ModelStage
}
export interface ToolWait {
  readonly status: 'TOOL_WAIT'
  readonly calls: readonly Call[]
}
/** `ended`: the `turn_end` is in the log, and the next step is due. */
export interface Observation {
  readonly status: 'OBSERVATION'
  readonly outcome: TurnOutcome
  readonly calls: readonly Call[]
  readonly ended: boolean
}
export type Activity = Thinking | ToolWait | Observation

export interface Recovery {
  readonly reason: 'turns' | 'wall_clock' | 'budget'
  readonly warningTurn: number
  /** On the clock of work time, ms. */
  readonly deadlineAt: number
  /** Body hash of the warning until a turn adds it to the messages. */
  readonly pendingWarning: string | null
}

/** RECOVERY keeps the activity that it interrupts. */
export type StateMachine =
  | { readonly status: 'IDLE' }
  | Activity
  | { readonly status: 'RECOVERY'; readonly recovery: Recovery; readonly activity: Activity | null }
  | { readonly status: 'DONE' }
  | { readonly status: 'ERROR'; readonly code: string; readonly error: string }

export function openCalls(machine: StateMachine): readonly Call[] {
  const activity = machine.status === 'RECOVERY' ? machine.activity : 'calls' in machine ? machine : null
  return activity !== null && 'calls' in activity ? activity.calls : []
}
