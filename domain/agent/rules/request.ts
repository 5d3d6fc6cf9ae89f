import { canonicalBytes } from '../../log/canonical.ts'
import { sha256 } from '../../log/ids.ts'
import type { ModelRequest } from '../../ports.ts'
import type { ModelInfo } from '../definition/spec.ts'
import { wireName } from '../definition/tools.ts'
import type { Message } from '../events/content.ts'
import { phaseTools } from '../state/phases.ts'
import { type AgentState, recoveryOf } from '../state/state.ts'
import { offeredTools } from './policy.ts'

// A model request is not stored: it is the messages at its intent and these parameters, and is put together again from
// the log on demand (DESIGN, CONTRACTS 7). Whoever changes what follows raises ASSEMBLER.

/** Version of the way in which a request is put together. */
export const ASSEMBLER = 1

export type Parameters = Omit<ModelRequest, 'messages' | 'maxOutputTokens' | 'model'>

/** Everything of a request but its messages, model and output limit. */
export function parametersOf(state: AgentState, model: ModelInfo): Parameters {
  const offered = offeredTools(state)
  const modelOnly = phaseTools(state)?.length === 0
  const final = recoveryOf(state.machine) !== null
  return {
    system: systemPrompt(state),
    tools: offered.map((tool) => ({
      name: wireName(tool.name),
      description: tool.description,
      parameters: tool.parameters as never,
    })),
    toolChoice: !model.forcesCalls ? 'auto' : final ? { name: 'complete_task' } : modelOnly ? 'auto' : 'any',
    parallelCalls: state.spec.policy.mode === 'batch' && !final,
  }
}

export interface Measured {
  readonly parameters: Parameters
  readonly hash: string
  readonly bytes: number
}

const measured = new WeakMap<object, Map<string, Measured>>()

/** The parameters with their hash and size; computed once per run, phase and model. */
export function measuredParameters(state: AgentState, model: ModelInfo): Measured {
  let perRun = measured.get(state.spec)
  if (perRun === undefined) {
    perRun = new Map()
    measured.set(state.spec, perRun)
  }
  const key = `${model.id}|${state.phase}|${recoveryOf(state.machine) !== null}`
  let known = perRun.get(key)
  if (known === undefined) {
    const parameters = parametersOf(state, model)
    const bytes = canonicalBytes(parameters)
    known = { parameters, hash: sha256(bytes), bytes: bytes.length }
    perRun.set(key, known)
  }
  return known
}

/** The whole request of the model call that is open in this state. */
export function assemble(
  state: AgentState,
  model: ModelInfo,
  messages: readonly Message[],
  maxOutputTokens: number,
): ModelRequest {
  return { ...measuredParameters(state, model).parameters, model: model.id, messages, maxOutputTokens }
}

function systemPrompt(state: AgentState): string {
  const { role, policy, workspace, contextVariables, instructions, testCommand, secrets } = state.spec
  const parts: string[] = []
  if (role !== null) {
    parts.push(`You are ${role.name}, ${role.profile}. Your goal: ${role.goal}.`)
    const phases = role.phases.map(
      (phase) => `- ${phase.name}: ${phase.allowedTools.join(', ') || 'no tools, thinking and writing only'}`,
    )
    parts.push(`You work in phases, each with its own tools:\n${phases.join('\n')}`)
    parts.push('You begin in the first phase. Move on with advance_phase; its result says where you are.')
    const gates = role.qualityGates.map((gate) => `- ${gate.check} before leaving ${gate.after}`)
    if (gates.length > 0) parts.push(`Quality gates:\n${gates.join('\n')}`)
  } else {
    parts.push('You are a capable agent that works on a task with the tools you are given.')
  }
  parts.push(
    policy.mode === 'interactive'
      ? 'Call exactly one tool per turn.'
      : 'You may call several tools in one turn; independent ones run in parallel.',
    'Finish with complete_task, alone in its turn. It is the only way to finish: an answer without a tool call fails the task.',
  )
  if (workspace !== null) parts.push('Paths are relative to the workspace; nothing outside it can be reached.')
  if (testCommand !== null) parts.push(`The test command is: ${testCommand.join(' ')}`)
  if (Object.keys(contextVariables).length > 0) parts.push(`Context variables: ${JSON.stringify(contextVariables)}`)
  if (secrets.length > 0) {
    const names = secrets.map(({ name, reference }) => `- ${name}: ${reference}`)
    parts.push(
      `Secrets that tools may be given. Put a reference exactly where its value is to stand in a tool's arguments: the tool gets the value, which is never shown to you.\n${names.join('\n')}`,
    )
  }
  if (instructions !== undefined) parts.push(instructions)
  return parts.join('\n\n')
}
