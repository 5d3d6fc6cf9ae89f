import { z } from 'zod'
import type { ToolErrorCode } from '../../calls/error-codes.ts'
import type { Json, JsonObject } from '../../log/json.ts'
import type { MemoryRequest } from '../../memory/request.ts'
import type { QualityGate, RoleDefinition } from '../definition/spec.ts'
import type { ControlKind, ToolSpec } from '../definition/tools.ts'
import type { Artifact, BodyOf, EventType, Failure } from '../events/events.ts'
import type { Call } from '../state/call.ts'
import type { AgentState } from '../state/state.ts'

// Control tools steer their own agent. They touch nothing outside the log and have no effect until their decision is
// recorded. Each file of this folder holds one tool; registry.ts lists them.

/** The facts that the runtime must establish before the call can be decided. */
export interface Examination {
  /** Quality gates to check against the workspace. */
  readonly gates?: readonly QualityGate[]
  /** Artifacts whose content is in the arguments. */
  readonly artifacts?: readonly Artifact[]
  /** Paths of files to register as artifacts. */
  readonly files?: readonly string[]
  /** Earlier turns to read, both ends included; `from` and `length` in UTF-8 bytes of their text. */
  readonly turns?: {
    readonly fromTurn: number
    readonly toTurn: number
    readonly from: number
    readonly length: number
  }
  /** A part of an earlier call's result to read; `from` and `length` in UTF-8 bytes. */
  readonly part?: { readonly toolCallId: string; readonly from: number; readonly length: number }
  /** The question to the memory. */
  readonly memory?: MemoryRequest
}

/** The facts that the runtime established: the answer to an {@link Examination}. */
export interface Findings {
  readonly gates: readonly BodyOf<'gate_checked'>[]
  readonly artifacts: readonly Artifact[]
  /** The part of a result, or of earlier turns, that was read. */
  readonly text: string | null
  /** The source of that text, where it is not trusted, such as `web`; absent: it is trusted. */
  readonly untrusted?: string
  /** The answer of the memory. */
  readonly memory?: Json
}

/** An event of a control call; it is recorded before the end of the call. */
export type ControlEvent = { readonly [T in EventType]: { readonly type: T; readonly body: BodyOf<T> } }[EventType]

/** How a control call ends. `completion`: the run is complete. `end` null: the call stays open, its events say for what. */
export interface ControlDecision {
  readonly events: readonly ControlEvent[]
  readonly end: { readonly content: Json; readonly detail?: JsonObject } | { readonly error: Failure } | null
  readonly completion?: BodyOf<'completion'>
}

/** Whether an agent may call a tool now, may ask a person for it, or neither. */
export type Right = 'call' | 'ask' | 'none'

interface Definition<Input> {
  readonly name: string
  readonly description: string
  /** Also states what JSON Schema cannot: trimmed and not blank. */
  readonly schema: z.ZodType<Input>
  readonly kind: ControlKind
  /** The code with which every call of a turn is refused where this one is not the turn's only call. */
  readonly alone?: Extract<ToolErrorCode, 'COMPLETION_NOT_ALONE' | 'SINGLE_STEP_VIOLATION'>
  /** Agents with a role only. */
  readonly needsRole?: true
  /** Phases that have other tools only. */
  readonly needsTools?: true
  /** Why each call waits for a person's decision, whatever the policy says. No standing approval answers it. */
  readonly approval?: string
  /** The argument that holds the name of the value beside it: what a secret's name says is a secret is redacted. */
  readonly named?: { readonly name: string; readonly value: string }
  /** Why the state refuses the call before it starts, or null. */
  refusal?(state: AgentState, input: Input, rightTo: (tool: ToolSpec) => Right): string | null
  /** The facts to be established before the decision. */
  examine?(state: AgentState, call: Call, input: Input): Examination
  decide(state: AgentState, call: Call, input: Input, findings: Findings): ControlDecision
}

/** A control tool, whatever its input: `input` is always what its own `schema` made of the arguments. */
export interface ControlTool extends Omit<Definition<unknown>, 'name' | 'description' | 'kind'> {
  readonly spec: ToolSpec
}

/** A gate may take a snapshot of the workspace; its own limit is shorter, so that it can report what took too long. Ms. */
const TIME_LIMIT_MS = 5 * 60_000

/** Makes a control tool of its definition. */
export function controlTool<Input>({ name, description, kind, ...rest }: Definition<Input>): ControlTool {
  const spec: ToolSpec = {
    name,
    description,
    parameters: z.toJSONSchema(rest.schema, { io: 'input' }) as JsonObject,
    effect: 'pure',
    paths: {},
    barrier: false,
    control: kind,
    timeLimitMs: TIME_LIMIT_MS,
  }
  return { ...rest, spec } as unknown as ControlTool
}

/** An argument that must hold more than white space. */
export const nonBlank = z.string().trim().min(1)

/** The events of checked gates, and the failure of the call where one does not hold. */
export function gateEvents({ gates }: Findings): { events: ControlEvent[]; error: Failure | null } {
  const events = gates.map((body) => ({ type: 'gate_checked', body }) as const)
  const unmet = gates.filter(({ passed }) => !passed)
  if (unmet.length === 0) return { events, error: null }
  const why = unmet.map(({ gate, after, evidence }) => `${gate} (after ${after}): ${evidence}`).join('; ')
  return { events, error: { code: 'GATE_FAILED', message: `a quality gate does not hold: ${why}` } }
}

/** The most artifacts that one call names: each is an event here and one more in the parent, and all stand in one append. */
const MAX_ARTIFACTS = 1_000

/** Why so many artifacts cannot be registered, or null. */
export const artifactsFault = ({ artifacts = [] }: { readonly artifacts?: readonly unknown[] | undefined }) =>
  artifacts.length <= MAX_ARTIFACTS
    ? null
    : `artifacts: a call names at most ${MAX_ARTIFACTS}, not ${artifacts.length}; name the folders or the most important files`

export const artifactEvents = ({ artifacts }: Findings): ControlEvent[] =>
  artifacts.map((artifact) => ({ type: 'artifact_registered', body: { artifact } }) as const)

/** Whether an agent with this role is offered the tool. */
export const isFor = ({ needsRole }: ControlTool, role: RoleDefinition | null): boolean =>
  needsRole !== true || role !== null
