import { canonicalBytes } from '../../log/canonical.ts'
import { sha256 } from '../../log/ids.ts'
import type { Root } from '../../log/root.ts'
import type { ModelRequest } from '../../shared/model-call.ts'
import type { ModelInfo } from '../definition/spec.ts'
import { type ToolSpec, wireName } from '../definition/tools.ts'
import type { Message } from '../events/content.ts'
import type { Purpose } from '../events/event-parts.ts'
import type { BodyOf } from '../events/events.ts'
import type { Segment } from '../events/segment.ts'
import { phaseTools } from '../state/phases.ts'
import { type AgentState, type Prompt, recoveryOf, type Toolset } from '../state/state.ts'
import { offeredTools } from './policy.ts'
import { systemPrompt } from './prompt.ts'

// A model request is not stored: it is assembled again from the log on demand (DESIGN, CONTRACTS 7). Prompt and tool list
// are facts, recorded before the first request that has them.

/** What the coming request of the run's turns must be made of, and its size without messages, in bytes. */
export interface RequestFacts {
  readonly prompt: BodyOf<'prompt_set'>
  readonly tools: BodyOf<'tools_changed'>
  readonly bytes: number
}

const known = new WeakMap<object, Map<string, RequestFacts>>()

/** The prompt and tools of the coming request; computed once per spec, phase and model. */
export function requestFacts(state: AgentState, model: ModelInfo): RequestFacts {
  const ofSpec = known.get(state.spec) ?? new Map<string, RequestFacts>()
  known.set(state.spec, ofSpec)
  const key = `${model.id}|${state.phase}|${recoveryOf(state.machine) !== null}`
  const facts = ofSpec.get(key) ?? factsOf(state, model)
  ofSpec.set(key, facts)
  return facts
}

function factsOf(state: AgentState, model: ModelInfo): RequestFacts {
  const offered = offeredTools(state)
  const final = recoveryOf(state.machine) !== null ? offered[0] : undefined
  const required = phaseTools(state)?.length === 0 ? 'auto' : 'any'
  const choice = !model.forcesCalls ? 'auto' : final === undefined ? required : { name: wireName(final.name) }
  const parallel = state.spec.policy.mode === 'batch' && final === undefined
  const system = systemPrompt(state.spec)
  const bytes = canonicalBytes({ system, tools: wireTools(offered), choice, parallel }).length
  return { prompt: { system }, tools: { offered: offered.map(({ name }) => name), choice, parallel }, bytes }
}

/** Are these the recorded tools? */
export const sameTools = (recorded: Toolset | null, { offered, choice, parallel }: RequestFacts['tools']): boolean =>
  recorded !== null &&
  recorded.parallel === parallel &&
  JSON.stringify([recorded.offered, recorded.choice]) === JSON.stringify([offered, choice])

/** All that an assembler works on, beside the text of the messages, to which `messages` and `rendered` commit. */
export interface RequestInputs {
  readonly purpose: Purpose
  readonly model: string
  readonly maxOutputTokens: number
  readonly prompt: Prompt
  readonly toolset: Toolset
  /** The tools that the spec defines, and the hash of the event that it came from. */
  readonly defined: { readonly hash: string; readonly tools: readonly ToolSpec[] }
  readonly segments: readonly Segment[]
  /** Root of the bodies that the messages come from. */
  readonly messages: Root
}

/** The inputs of a request in this state. Throws where no prompt and no tools are recorded. */
export function requestInputs(
  { prompt, toolset, spec, specHash, messages }: AgentState,
  call: Pick<RequestInputs, 'purpose' | 'model' | 'maxOutputTokens'>,
): RequestInputs {
  if (prompt === null || toolset === null)
    throw new Error('a model was called before its prompt and tools were recorded')
  const segments = [{ kind: 'keep', from: 0, to: messages.count } as const]
  return { ...call, prompt, toolset, defined: { hash: specHash, tools: spec.tools }, segments, messages }
}

/** SHA-256 over all inputs as one value; facts stand in it by their hashes. `rendered`: root of the messages' text. */
export function inputsHash({ prompt, toolset, defined, ...inputs }: RequestInputs, rendered: string): string {
  const facts = { prompt: prompt.hash, toolset: toolset.hash, defined: defined.hash }
  return sha256(canonicalBytes({ ...inputs, ...facts, rendered }))
}

/** Makes a request of its inputs and the messages that they count; null: a kind of segment that it does not know. */
export type Assembler = (inputs: RequestInputs, messages: readonly Message[]) => ModelRequest | null

/** The version with which requests are assembled now. A change of what an assembler makes is a new version. */
export const ASSEMBLER = 1

const ASSEMBLERS: Readonly<Record<number, Assembler>> = { 1: assembleWhole }

/** The assembler of this version, of this or an earlier build; undefined: this build does not have it. */
export const assemblerOf = (version: number): Assembler | undefined => ASSEMBLERS[version]

/** Version 1: keeps every message. */
function assembleWhole(inputs: RequestInputs, messages: readonly Message[]): ModelRequest | null {
  const { model, maxOutputTokens, prompt, toolset, defined, segments } = inputs
  if (segments.some(({ kind }) => kind !== 'keep')) return null
  const offered = toolset.offered.flatMap((name) => defined.tools.filter((tool) => tool.name === name))
  return {
    model,
    system: prompt.system,
    messages: segments.flatMap(({ from, to }) => messages.slice(from, to)),
    tools: wireTools(offered),
    toolChoice: toolset.choice,
    parallelCalls: toolset.parallel,
    maxOutputTokens,
  }
}

const wireTools = (tools: readonly ToolSpec[]): ModelRequest['tools'] =>
  tools.map(({ name, description, parameters }) => ({
    name: wireName(name),
    description,
    parameters: parameters as never,
  }))
