import { z } from 'zod'
import type { Call } from '../../calls/call.ts'
import type { ToolErrorCode } from '../../calls/error-codes.ts'
import type { Artifact, Failure } from '../../calls/events/event-parts.ts'
import type { MemoryRequest } from '../../calls/memory/request.ts'
import type { ControlRules, Right } from '../../calls/policy-engine.ts'
import type { ControlKind, ToolSpec } from '../../calls/tools/tool-spec.ts'
import type { Json, JsonObject } from '../../log/json.ts'
import type { QualityGate, RoleDefinition } from '../../tree/spec.ts'
import type { BodyOf, EventType } from '../events/events.ts'
import type { AgentState } from '../state/state.ts'

// Control tools control their own agent. They touch nothing outside the log, and have no effect until their decision is
// recorded. Each file of this folder contains one tool; registry.ts lists them.

/** The facts that the runtime must collect before the call can be decided. */
export interface Examination {
  readonly gates?: readonly QualityGate[]
  readonly artifacts?: readonly Artifact[]
  readonly files?: readonly string[]
  /** Earlier turns to read, both ends inclusive. `from` and `length`: in UTF-8 bytes of their text. */
  readonly turns?: {
    readonly fromTurn: number
    readonly toTurn: number
    readonly from: number
    readonly length: number
  }
  /** A part of an earlier call's result to read. `from` and `length`: in UTF-8 bytes. */
  readonly part?: { readonly toolCallId: string; readonly from: number; readonly length: number }
  readonly memory?: MemoryRequest
}

/** The facts that the runtime collected for an {@link Examination}. */
export interface Findings {
  readonly gates: readonly BodyOf<'gate_checked'>[]
  readonly artifacts: readonly Artifact[]
  /** The requested part of a result or of earlier turns. */
  readonly text: string | null
  /** The source of the text if it is untrusted, for example `web`; absent: trusted. */
  readonly untrusted?: string
  readonly memory?: Json
}

/** An event of a control call, recorded before the end of the call. */
export type ControlEvent = { readonly [T in EventType]: { readonly type: T; readonly body: BodyOf<T> } }[EventType]

/** `completion`: the run is complete. `end` null: the call stays open and waits for the consequence of its events. */
export interface ControlDecision {
  readonly events: readonly ControlEvent[]
  readonly end: { readonly content: Json; readonly detail?: JsonObject } | { readonly error: Failure } | null
  readonly completion?: BodyOf<'completion'>
}

interface Definition<Input> extends ControlRules {
  readonly name: string
  readonly description: string
  /** Also checks rules that JSON Schema cannot express: trimmed and not blank. */
  readonly schema: z.ZodType<Input>
  readonly kind: ControlKind
  /** The error code for every call of a turn in which this call is not the only one. */
  readonly alone?: Extract<ToolErrorCode, 'COMPLETION_NOT_ALONE' | 'SINGLE_STEP_VIOLATION'>
  /** Only for agents with a role. */
  readonly needsRole?: true
  /** Why the state refuses the call before it starts, or null. */
  refusal?(state: AgentState, input: Input, rightTo: (tool: ToolSpec) => Right): string | null
  examine?(state: AgentState, call: Call, input: Input): Examination
  decide(state: AgentState, call: Call, input: Input, findings: Findings): ControlDecision
}

/** A control tool with any input type. `input` is always the output of the tool's own `schema`. */
export interface ControlTool extends Omit<Definition<unknown>, 'name' | 'description' | 'kind'> {
  readonly spec: ToolSpec
}

/**
 * The time limit of a control call, ms. A gate's snapshot has a shorter limit, so that the gate can report a timeout.
 */
const TIME_LIMIT_MS = 5 * 60_000

export function controlTool<Input>({ name, description, kind, ...rest }: Definition<Input>): ControlTool {
  let parameters: JsonObject | null = null
  const spec: ToolSpec = {
    name,
    description,
    // Made at its first use: commands that only read need none.
    get parameters() {
      parameters ??= z.toJSONSchema(rest.schema, { io: 'input' }) as JsonObject
      return parameters
    },
    effect: 'pure',
    paths: {},
    barrier: false,
    control: kind,
    timeLimitMs: TIME_LIMIT_MS,
  }
  return { ...rest, spec }
}

export const nonBlank = z.string().trim().min(1)

/** The events of checked gates, and the failure of the call if a gate does not pass. */
export function gateEvents({ gates }: Findings): { events: ControlEvent[]; error: Failure | null } {
  const events = gates.map((body) => ({ type: 'gate_checked', body }) as const)
  const unmet = gates.filter(({ passed }) => !passed)
  if (unmet.length === 0) return { events, error: null }
  const why = unmet.map(({ gate, after, evidence }) => `${gate} (after ${after}): ${evidence}`).join('; ')
  return { events, error: { code: 'GATE_FAILED', message: `a quality gate does not hold: ${why}` } }
}

/** The most artifacts of one call. All are recorded in one append, each as an event here and another in the parent. */
const MAX_ARTIFACTS = 1_000

/** Why too many artifacts cannot be registered, or null. */
export const artifactsFault = ({ artifacts = [] }: { readonly artifacts?: readonly unknown[] | undefined }) =>
  artifacts.length <= MAX_ARTIFACTS
    ? null
    : `artifacts: a call names at most ${MAX_ARTIFACTS}, not ${artifacts.length}; name the folders or the most important files`

export const artifactEvents = ({ artifacts }: Findings): ControlEvent[] =>
  artifacts.map((artifact) => ({ type: 'artifact_registered', body: { artifact } }) as const)

export const isFor = ({ needsRole }: ControlTool, role: RoleDefinition | null): boolean =>
  needsRole !== true || role !== null
