import type { OutcomeCommand, SettleDelivery } from '../agent/decide/commands.ts'
import type { ResolvedPaths } from '../agent/events/event-parts.ts'
import type { Delivery } from '../agent/rules/obligations.ts'
import type { SeenFile } from '../calls/question.ts'
import type { Actor } from '../log/envelope.ts'
import type { JsonObject } from '../log/json.ts'
import type { StreamContext } from '../stream/aggregate.ts'
import type { AgentEventBody } from './agent-event.ts'
import type { Confinement } from './confinement.ts'
import type { BodyOf, RecordedRequest } from './events.ts'
import type { Outcome } from './outcome.ts'
import type { Usage } from './usage.ts'

/** The requests to an external run, and the outcomes that its driver brings in. All text is redacted by now. */
export type ExternalCommand =
  | {
      readonly kind: 'start'
      readonly backend: string
      readonly request: RecordedRequest
      readonly capabilities: readonly string[]
      /** The call of keepup's own agent that delegates the run, and the run of that agent. */
      readonly parent?: BodyOf<'external_started'>['parent'] & { readonly runId: string }
    }
  /** `by`: the person who asks, where a driver brings it in. */
  | { readonly kind: 'cancel'; readonly reason?: string; readonly by?: Actor }
  /** `questionHash` and `files`: as of an agent of keepup's. */
  | {
      readonly kind: 'decide_permission'
      readonly toolCallId: string
      readonly decision: 'approved' | 'rejected'
      readonly questionHash?: string
      readonly files?: readonly SeenFile[]
      readonly reason?: string
    }
  | ExternalFact
  /** The courier brings what the parent owes, or says that the parent was brought what it is owed. */
  | Delivery
  | SettleDelivery
  /** Decided one after another, and recorded in one append. */
  | { readonly kind: 'series'; readonly commands: readonly ExternalCommand[] }

/** Facts are never refused: one that was recorded before, or comes too late, decides nothing. */
export type ExternalFact =
  | { readonly kind: 'claim'; readonly driverId: string; readonly build: string }
  /** Nothing new from outside: record the intent of the process where the driver may start it. */
  | { readonly kind: 'proceed'; readonly confinement?: Confinement }
  /** `first`: the index of the first of these events in the run. What is recorded of them already is left out. */
  | { readonly kind: 'batch'; readonly first: number; readonly events: readonly AgentEventBody[] }
  | ({ readonly kind: 'versioned' } & BodyOf<'files_versioned'>)
  /** The agent asks leave. `toolCallId`: the id that the state gives next; one that was recorded is left out. */
  | ({ readonly kind: 'permission' } & BodyOf<'permission_requested'>)
  /** The agent calls one of keepup's own tools. `index`: how many came before. Arguments null: no JSON object; `beyond`: why not. */
  | {
      readonly kind: 'call'
      readonly index: number
      readonly name: string
      readonly arguments: JsonObject | null
      readonly beyond?: string
      readonly paths: ResolvedPaths
    }
  /** Begin what may begin, and end what has expired or was rejected. `paused`: its parent is, so that nothing is begun. */
  | { readonly kind: 'calls_go_on'; readonly paused?: boolean }
  /** The agent waits for this call no longer. */
  | { readonly kind: 'call_left'; readonly toolCallId: string }
  /** The outcome of an attempt, as for agents of keepup's. */
  | Extract<
      OutcomeCommand,
      { readonly kind: 'tool_succeeded' | 'tool_failed' | 'tool_in_doubt' | 'tool_changed' | 'files_changed' }
    >
  | { readonly kind: 'session'; readonly sessionId: string }
  | { readonly kind: 'usage'; readonly usage: Usage }
  | { readonly kind: 'end'; readonly outcome: Outcome }
  /** The processes that an earlier driver left on this host were ended, as far as it was there. */
  | { readonly kind: 'reaped'; readonly ended: number }

/** The knowledge of the world of a decision. `driver`: set where a driver decides, its own id and the epoch that it holds. */
export interface ExternalContext extends StreamContext {
  readonly driver?: { readonly id: string; readonly epoch: number }
}
