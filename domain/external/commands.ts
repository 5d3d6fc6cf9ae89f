import type { ResolvedPaths } from '../calls/events/event-parts.ts'
import type { SeenFile } from '../calls/question-hash.ts'
import type { ToolOutcome } from '../calls/tools/tool-outcome.ts'
import type { Delivery, SettleDelivery } from '../courier/delivery-commands.ts'
import type { Actor } from '../log/envelope.ts'
import type { JsonObject } from '../log/json.ts'
import type { StreamContext } from '../stream/aggregate.ts'
import type { AgentEventBody } from './agent-event.ts'
import type { Confinement } from './confinement.ts'
import type { ExternalBodyOf, RecordedRequest } from './events.ts'
import type { Hosting } from './hosted/events.ts'
import type { Outcome } from './outcome.ts'
import type { UnnumberedSpan } from './reported/span.ts'
import type { ReportedUsage } from './usage.ts'

/** Requests to an external run, and outcomes from its driver. All text is already redacted. */
export type ExternalCommand =
  | {
      readonly kind: 'start'
      readonly backend: string
      readonly request: RecordedRequest
      readonly capabilities: readonly string[]
      /** The call of a keepup agent that delegates the run, and the run of that agent. */
      readonly parent?: ExternalBodyOf<'external_started'>['parent'] & { readonly runId: string }
      readonly continues?: NonNullable<ExternalBodyOf<'external_started'>['continues']>
      /** A program hosts the agent under these rules. */
      readonly hosting?: Pick<Hosting, 'policy' | 'effects'>
    }
  /** A program reports spans of a trace. The first report starts the run. Spans that are already recorded are skipped. */
  | { readonly kind: 'report'; readonly traceId: string; readonly spans: readonly UnnumberedSpan[] }
  /** `by`: the person who cancels, if a driver passes the cancel on. */
  | { readonly kind: 'cancel'; readonly reason?: string; readonly by?: Actor }
  /** `questionHash` and `files`: see the approval of a keepup agent's call. */
  | {
      readonly kind: 'decide_permission'
      readonly toolCallId: string
      readonly decision: 'approved' | 'rejected'
      readonly questionHash?: string
      readonly files?: readonly SeenFile[]
      readonly lapsed?: readonly string[]
      readonly otherIds?: readonly string[]
      readonly reason?: string
    }
  | ExternalFact
  /** The courier delivers an obligation of the parent, or confirms a delivery to the parent. */
  | Delivery
  | SettleDelivery
  /** Decides the commands in order and records them in one append. */
  | { readonly kind: 'series'; readonly commands: readonly ExternalCommand[] }

/** Facts are never refused. A repeated or late fact records nothing. */
export type ExternalFact =
  | { readonly kind: 'claim'; readonly driverId: string; readonly build: string }
  /** No new fact: records the intent to start the process if the driver may start it. */
  | { readonly kind: 'proceed'; readonly confinement?: Confinement }
  /** `first`: the index of the first of these events in the run. Events that are already recorded are skipped. */
  | { readonly kind: 'batch'; readonly first: number; readonly events: readonly AgentEventBody[] }
  | ({ readonly kind: 'versioned' } & ExternalBodyOf<'files_versioned'>)
  /**
   * The agent requests a permission. `toolCallId`: the next id of the state; a request with another id records nothing.
   */
  | ({ readonly kind: 'permission' } & ExternalBodyOf<'permission_requested'>)
  /**
   * The agent calls a keepup tool, or a hosted agent calls a tool of its program under the provider's id. `index`: the
   * number of earlier calls. `arguments` null: not a JSON object; `beyond`: why not.
   */
  | {
      readonly kind: 'call'
      readonly index: number
      readonly providerId?: string
      readonly name: string
      readonly arguments: JsonObject | null
      readonly beyond?: string
      readonly paths: ResolvedPaths
    }
  /**
   * Starts calls that may start, and ends expired and rejected calls. `paused`: the parent is paused, so no call
   * starts.
   */
  | { readonly kind: 'calls_go_on'; readonly paused?: boolean }
  /** The agent no longer waits for this call, or for the decision about this permission. */
  | { readonly kind: 'call_left'; readonly toolCallId: string }
  /** The outcome of an attempt, as for keepup agents. */
  | ToolOutcome
  /** A hosted agent's program begins the call, if it is allowed. */
  | { readonly kind: 'call_begins'; readonly toolCallId: string }
  /** `call`: the number of earlier model calls. */
  | ({ readonly kind: 'model_asked' } & ExternalBodyOf<'model_requested'>)
  | ({ readonly kind: 'model_ended' } & ExternalBodyOf<'model_outcome'>)
  | ({ readonly kind: 'mirrored' } & ExternalBodyOf<'transcript_mirrored'>)
  | ({ readonly kind: 'mirror_gap' } & ExternalBodyOf<'mirror_gap'>)
  | ({ readonly kind: 'transcript_deleted' } & ExternalBodyOf<'transcript_deleted'>)
  | { readonly kind: 'session'; readonly sessionId: string }
  | { readonly kind: 'usage'; readonly usage: ReportedUsage }
  | { readonly kind: 'end'; readonly outcome: Outcome }
  /** The processes of an earlier driver are ended, as far as they were found on this host. */
  | { readonly kind: 'reaped'; readonly ended: number }

/** The facts outside the state. `driver`: the id and epoch of the deciding driver; absent if no driver decides. */
export interface ExternalContext extends StreamContext {
  readonly driver?: { readonly id: string; readonly epoch: number }
}
