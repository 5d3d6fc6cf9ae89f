import type { Message } from '../../calls/content.ts'
import type { ModelRequest } from '../../calls/model-call.ts'
import { phaseTools } from '../../calls/tools/phase-tools.ts'
import { wireName } from '../../calls/tools/tool-spec.ts'
import { byteLength } from '../../calls/truncate.ts'
import { canonicalBytes } from '../../log/canonical.ts'
import type { ModelInfo } from '../../tree/spec.ts'
import type { BodyOf } from '../events/events.ts'
import { offeredTools } from '../rules/policy.ts'
import { type AgentState, recoveryOf, type Toolset } from '../state/state.ts'
import { tasksText } from '../tasks/tasks-text.ts'
import { assembleCompressed } from './compressed-request.ts'
import { knowledgeFor, textsOf } from './knowledge.ts'
import { systemPrompt } from './prompt.ts'
import { parametersOf, type RequestInputs, wireTools } from './request-inputs.ts'

export { inputsHash, type RequestInputs, requestInputs } from './request-inputs.ts'

// A model request is not stored. It is reassembled from the log on demand. Prompt and tool list are recorded before the
// first request that uses them.

/** Prompt, tools and knowledge of the next request, and its size without messages, in bytes. */
export interface RequestFacts {
  readonly prompt: BodyOf<'prompt_set'>
  readonly tools: BodyOf<'tools_changed'>
  readonly knowledge: BodyOf<'knowledge_added'>
  readonly bytes: number
}

const known = new WeakMap<object, Map<string, RequestFacts>>()

/** The facts of the next request. Cached per spec, salt, phase, model, recovery and permissions. */
export function requestFacts(state: AgentState, model: ModelInfo): RequestFacts {
  const ofSpec = known.get(state.spec) ?? new Map<string, RequestFacts>()
  known.set(state.spec, ofSpec)
  const permitted = (state.permissions ?? []).map(({ tool }) => tool).join()
  const key = `${model.id}|${state.phase}|${state.hashSalt}|${recoveryOf(state.machine) !== null}|${permitted}`
  const facts = ofSpec.get(key) ?? factsOf(state, model)
  ofSpec.set(key, facts)
  const { tasks = [] } = state.tasks ?? {}
  return tasks.length === 0 ? facts : { ...facts, bytes: facts.bytes + byteLength(tasksText(tasks)) }
}

function factsOf(state: AgentState, model: ModelInfo): RequestFacts {
  const offered = offeredTools(state)
  const final = recoveryOf(state.machine) !== null ? offered[0] : undefined
  const required = phaseTools(state)?.length === 0 ? 'auto' : 'any'
  const choice = !model.forcesCalls ? 'auto' : final === undefined ? required : { name: wireName(final.name) }
  const parallel = state.spec.policy.mode === 'batch' && final === undefined
  const system = systemPrompt(state.spec)
  const items = knowledgeFor(state)
  const known = textsOf(state, items).reduce((sum, { text }) => sum + byteLength(text), 0)
  const bytes = known + canonicalBytes({ system, tools: wireTools(offered), choice, parallel }).length
  const tools: RequestFacts['tools'] = { offered: offered.map(({ name }) => name), choice, parallel }
  return { prompt: { system }, tools, knowledge: { items: [...items] }, bytes }
}

export const sameTools = (recorded: Toolset | null, { offered, choice, parallel }: RequestFacts['tools']): boolean =>
  recorded !== null &&
  recorded.parallel === parallel &&
  JSON.stringify([recorded.offered, recorded.choice]) === JSON.stringify([offered, choice])

/**
 * Builds a request from its inputs and the messages that they count; null: the assembler does not support the inputs.
 */
export type Assembler = (inputs: RequestInputs, messages: readonly Message[]) => ModelRequest | null

/** Version of requests that show all messages unchanged. Any change of an assembler's output needs a new version. */
export const ASSEMBLER = 1
/** Version of all other requests without tasks. */
export const COMPRESSING_ASSEMBLER = 2
/** Version of requests that show the tasks. */
export const LISTING_ASSEMBLER = 3

const ASSEMBLERS: Readonly<Record<number, Assembler>> = {
  1: assembleWhole,
  2: assembleCompressed,
  3: assembleWithTasks,
}

/** The version that this build uses for a request with these inputs. */
export const assemblerFor = ({ purpose, segments, knowledge, tasks }: RequestInputs): number => {
  if (tasks !== undefined) return LISTING_ASSEMBLER
  return purpose === 'turn' && knowledge === undefined && segments.every(({ kind }) => kind === 'keep')
    ? ASSEMBLER
    : COMPRESSING_ASSEMBLER
}

/** The assembler of a version, including those of earlier builds; undefined: this build lacks it. */
export const assemblerOf = (version: number): Assembler | undefined => ASSEMBLERS[version]

/** Version 1: shows every message unchanged. */
function assembleWhole(inputs: RequestInputs, messages: readonly Message[]): ModelRequest | null {
  const { segments } = inputs
  if (segments.some(({ kind }) => kind !== 'keep')) return null
  return { ...parametersOf(inputs), messages: segments.flatMap(({ from, to }) => messages.slice(from, to)) }
}

/**
 * Version 3: version 2 plus the tasks at the end, so that a provider's prompt cache stays valid for the other parts.
 */
function assembleWithTasks(inputs: RequestInputs, messages: readonly Message[]): ModelRequest | null {
  const request = assembleCompressed(inputs, messages)
  if (request === null || inputs.tasks === undefined) return request
  const listed = { role: 'system', content: tasksText(inputs.tasks.tasks) } as const
  return { ...request, messages: [...request.messages, listed] }
}
