import type { Call } from '../../../calls/call.ts'
import { ToolError } from '../../../calls/errors.ts'
import type { Artifact } from '../../../calls/events/event-parts.ts'
import { askMemory } from '../../../calls/runtime/ask-memory.ts'
import type { ToolSpec } from '../../../calls/tools/tool-spec.ts'
import { sha256 } from '../../../log/ids.ts'
import type { JsonObject } from '../../../log/json.ts'
import type { ToolResult } from '../../../ports/index.ts'
import type { Environment } from '../../../ports/runtime.ts'
import type { AgentSpec } from '../../../tree/spec.ts'
import type { Findings } from '../../control/control-tool.ts'
import { controlToolNamed } from '../../control/registry.ts'
import { gateLimitMs } from './gate-command.ts'
import { checkGate } from './gates.ts'
import { readPart } from './read-part.ts'
import { readTurns } from './read-turns.ts'
import type { ToolAttempt } from './tool-attempt.ts'

interface Performed {
  readonly result: ToolResult
  readonly control: { readonly input: unknown; readonly findings: Findings }
}

/** Collects the facts for a control tool's decision. The decision itself is pure (domain/agent/control). */
export async function performControl(
  { ports, env, state, call, stream, told, signal }: Omit<ToolAttempt, 'args'>,
  args: JsonObject,
): Promise<Performed> {
  const tool = controlToolNamed(call.toolName)
  if (tool === undefined) throw new ToolError('RESOURCE_NOT_FOUND', `there is no control tool "${call.toolName}"`)
  const input = tool.schema.parse(args)
  const { gates = [], files = [], part, turns, memory, ...inline } = tool.examine?.(state, call, input) ?? {}
  const artifacts = [...(inline.artifacts ?? []), ...(await namedArtifacts(env, call, files))]
  const types = artifacts.map(({ type }) => type)
  const checked: Findings['gates'][number][] = []
  // Sequential, because the command of one gate may change files that another gate checks.
  for (const gate of gates) checked.push(await checkGate(env, state, gate, types, signal))
  const earlier = turns === undefined ? null : readTurns(told, turns)
  const read = part === undefined ? { text: earlier } : await readPart(ports, state, part)
  const kept = memory === undefined ? {} : { memory: await askMemory(ports, env, state, call, stream, memory) }
  const findings = { artifacts, gates: checked, ...read, ...kept }
  return { result: { content: findings.text ?? 'examined' }, control: { input, findings } }
}

/** The time limit of a control call, in ms, including the limits of the role's gate commands. */
export const controlLimitMs = ({ timeLimitMs }: ToolSpec, { role }: AgentSpec): number =>
  (role?.qualityGates ?? []).reduce((sum, gate) => sum + (gate.argv === undefined ? 0 : gateLimitMs(gate)), timeLimitMs)

/**
 * ArtifactManager: registers the files that the call names with their hash, or as `claimed` if a file does not exist.
 */
async function namedArtifacts(env: Environment, call: Call, paths: readonly string[]): Promise<Artifact[]> {
  const artifacts: Artifact[] = []
  for (const [index, path] of paths.entries()) {
    const bytes = await readNamed(env, path)
    // An absolute path identifies the same artifact as the relative one.
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
