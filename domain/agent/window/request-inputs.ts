import type { ModelRequest } from '../../calls/model-call.ts'
import { type ToolSpec, wireName } from '../../calls/tools/tool-spec.ts'
import { canonicalBytes } from '../../log/canonical.ts'
import { saltedHash } from '../../log/ids.ts'
import { asJson } from '../../log/json.ts'
import type { Root } from '../../log/root.ts'
import type { Purpose } from '../../tree/routing-config.ts'
import type { AgentState, Prompt, Toolset } from '../state/state.ts'
import type { Task } from '../tasks/events.ts'
import { type RecordedText, segmentsOf } from './compression-state.ts'
import { textsOf } from './knowledge.ts'
import type { Segment } from './segment.ts'

/** All inputs of an assembler, except the text of the messages, which `messages` and `rendered` cover. */
export interface RequestInputs {
  readonly purpose: Purpose
  readonly model: string
  readonly maxOutputTokens: number
  readonly prompt: Prompt
  readonly toolset: Toolset
  /** The tools that the spec defines, and the hash of its event. */
  readonly defined: { readonly hash: string; readonly tools: readonly ToolSpec[] }
  readonly segments: readonly Segment[]
  /** The summary in force; absent: none. */
  readonly summary?: RecordedText
  readonly knowledge?: {
    readonly revision: number
    readonly hash: string
    readonly texts: readonly { readonly name: string; readonly text: string }[]
  }
  /** The task graph; absent: none. `changes`: the root hash of its events. */
  readonly tasks?: { readonly changes: string; readonly tasks: readonly Task[] }
  /** Root of the bodies that the messages come from. */
  readonly messages: Root
}

/**
 * The inputs of a request in this state. `segments`: only for a summary. Throws if prompt or tools are not recorded.
 */
export function requestInputs(
  { prompt, toolset, spec, specHash, hashSalt, messages, compression, tasks: graph }: AgentState,
  call: Pick<RequestInputs, 'purpose' | 'model' | 'maxOutputTokens'>,
  segments: readonly Segment[] = compression.summarizing?.segments ?? [],
): RequestInputs {
  if (prompt === null || toolset === null)
    throw new Error('a model was called before its prompt and tools were recorded')
  const { summary, knowledge } = compression
  const facts = { prompt, toolset, defined: { hash: specHash, tools: spec.tools }, messages }
  const summed = summary === null ? {} : { summary }
  const { purpose, model, maxOutputTokens } = call
  const asked = { purpose, model, maxOutputTokens }
  if (purpose === 'summary') return { ...asked, ...facts, segments, ...summed }
  const known =
    knowledge === null || knowledge.items.length === 0
      ? {}
      : { knowledge: { ...knowledge, texts: textsOf({ spec, hashSalt }, knowledge.items) } }
  const listed =
    graph === undefined || graph.tasks.length === 0
      ? {}
      : { tasks: { changes: graph.changes.hash, tasks: graph.tasks } }
  return { ...asked, ...facts, segments: segmentsOf(compression, messages.count), ...summed, ...known, ...listed }
}

/**
 * SHA-256 over the salt of hashes and all inputs; recorded facts are represented by their hashes. `rendered`: root of
 * the messages' text. Without the salt, the hash would confirm a guess of an erased message.
 */
export function inputsHash(hashSalt: string, given: RequestInputs, rendered: string): string {
  const { prompt, toolset, defined, summary, knowledge, tasks, ...inputs } = given
  const facts = {
    ...{ prompt: prompt.hash, toolset: toolset.hash, defined: defined.hash },
    ...(summary === undefined ? {} : { summary: summary.hash }),
    ...(knowledge === undefined ? {} : { knowledge: knowledge.hash }),
    ...(tasks === undefined ? {} : { tasks: tasks.changes }),
  }
  return saltedHash(hashSalt, canonicalBytes({ ...inputs, ...facts, rendered }))
}

export function parametersOf({ model, maxOutputTokens, prompt, toolset, defined }: RequestInputs) {
  const offered = toolset.offered.flatMap((name) => defined.tools.filter((tool) => tool.name === name))
  return {
    model,
    system: prompt.system,
    tools: wireTools(offered),
    toolChoice: toolset.choice,
    parallelCalls: toolset.parallel,
    maxOutputTokens,
  }
}

export const wireTools = (tools: readonly ToolSpec[]): ModelRequest['tools'] =>
  tools.map(({ name, description, parameters }) => ({
    name: wireName(name),
    description,
    parameters: asJson(parameters),
  }))
