import type { Findings } from '../../../agent/decisions/commands.ts'
import { AdvancePhase, CompleteTask, ReadResult, SetContext } from '../../../agent/definition/control-tools.ts'
import { ToolError } from '../../../agent/errors.ts'
import type { Artifact } from '../../../agent/events/events.ts'
import { gatesOnTheWay, openGates, targetPhase } from '../../../agent/state/phases.ts'
import type { AgentState, Call } from '../../../agent/state/state.ts'
import { sha256 } from '../../../log/ids.ts'
import type { JsonObject } from '../../../log/json.ts'
import type { ToolResult } from '../../../ports.ts'
import type { Environment } from '../../ports.ts'
import type { Stores } from '../../stream/ports.ts'
import { checkGate } from './gates.ts'
import { readResult } from './read-result.ts'

interface Performed {
  readonly result: ToolResult
  readonly findings?: Findings
}

/** What a control tool must learn of the world; the decision itself is the domain's. Arguments go on as `detail`. */
export async function performControl(
  stores: Stores,
  env: Environment,
  state: AgentState,
  call: Call,
  args: JsonObject,
): Promise<Performed> {
  switch (call.toolName) {
    case 'complete_task': {
      const input = CompleteTask.parse(args)
      const artifacts = await namedArtifacts(env, call, input.artifacts ?? [])
      const gates = await Promise.all(openGates(state).map((gate) => checkGate(env, state, gate)))
      return { result: { content: 'completed', detail: input as JsonObject }, findings: { gates, artifacts } }
    }
    case 'advance_phase': {
      const input = AdvancePhase.parse(args)
      const target = targetPhase(state, input.to)
      const artifacts = (input.artifacts ?? []).map((artifact, i) => inlineArtifact(call, i, artifact))
      const types = artifacts.map((artifact) => artifact.type)
      const gates =
        'phase' in target
          ? await Promise.all(gatesOnTheWay(state, target.phase).map((gate) => checkGate(env, state, gate, types)))
          : []
      return { result: { content: 'examined', detail: input as JsonObject }, findings: { gates, artifacts } }
    }
    case 'set_context':
      return { result: { content: 'set', detail: SetContext.parse(args) as JsonObject } }
    case 'ask_user': {
      const content = 'The question was put to the user. The answer comes as the next user message.'
      return { result: { content } }
    }
    case 'read_result':
      return { result: { content: await readResult(stores, state.agentId, ReadResult.parse(args)) } }
    default:
      throw new ToolError('RESOURCE_NOT_FOUND', `there is no control tool "${call.toolName}"`)
  }
}

function inlineArtifact(
  call: Call,
  index: number,
  artifact: { type: Artifact['type']; title: string; content: string },
): Artifact {
  const { content, ...named } = artifact
  const bytes = new TextEncoder().encode(content)
  const given = { ...call.given, item: index }
  return { id: `${call.id}.a${index}`, ...named, given, hash: sha256(bytes), size: bytes.length }
}

/** Files that the completion names: registered with their hash, or as claimed where there is no such file. */
async function namedArtifacts(env: Environment, call: Call, paths: readonly string[]): Promise<Artifact[]> {
  const artifacts: Artifact[] = []
  for (const [index, path] of paths.entries()) {
    const bytes = await readNamed(env, path)
    // One that was named by its absolute path is the same artifact.
    const inside = path.startsWith('/') && env.workspace !== null ? await env.workspace.resolve(path) : path
    const base = { id: `${call.id}.a${index}`, type: 'file' as const, path: env.secrets.text(inside) }
    artifacts.push(bytes === null ? { ...base, claimed: true } : { ...base, hash: sha256(bytes), size: bytes.length })
  }
  return artifacts
}

async function readNamed(env: Environment, path: string): Promise<Uint8Array | null> {
  if (env.workspace === null) return null
  try {
    return await env.workspace.read(path)
  } catch (error) {
    if ((error as { code?: unknown }).code === 'SANDBOX_VIOLATION') {
      throw new ToolError('INVALID_ARGUMENTS', `artifacts: ${(error as Error).message}`)
    }
    return null
  }
}
