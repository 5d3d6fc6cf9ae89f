import type {
  AgentSpec,
  GivenSecret,
  ModelInfo,
  Policy,
  RoleDefinition,
} from '../../../domain/agent/definition/spec.ts'
import {
  ContextManagementConfig,
  ErrorRecoveryPolicy,
  MODEL_OUTAGE_MS,
  Policy as PolicySchema,
  RecoveryConfig,
} from '../../../domain/agent/definition/spec.ts'
import type { ToolSpec } from '../../../domain/agent/definition/tools.ts'
import { matches } from '../../../domain/agent/rules/policy.ts'
import { Problem, type ProblemCode } from '../problem.ts'
import type { StartRun } from '../schemas/start.ts'
import type { Starts } from '../services.ts'

/** Turns of a run that names no limit and has no role. */
export const DEFAULT_TURNS = 25

/** What a workspace says of itself when a run is to start in it. */
export interface StartWorkspace {
  /** The real path. */
  readonly path: string
  readonly tree: string | null
  /** The folder's own test command, where it has one (`npm test` of its package.json). */
  readonly testCommand: readonly string[] | null
}

/** What preparing a run asks of the world. */
export interface PrepareServices {
  /** Null: no such role. */
  role(name: string): RoleDefinition | null
  roleNames(): readonly string[]
  /** Rejects or throws for a model that is not known. */
  model(id: string): ModelInfo
  readonly defaultModel: string
  /** Null: the requested one. */
  readonly safeDefaultModel: string | null
  /** Tools that a run may be given. */
  tools(role: RoleDefinition | null): readonly ToolSpec[]
  /** Rejects for a folder that cannot be worked in, or in which another run works. */
  workspace(path: string, about: Pick<AgentSpec, 'secrets' | 'policy'>): Promise<StartWorkspace>
  /** Why commands cannot be confined on this host; null: they can. */
  sandboxFault(workspace: string): Promise<string | null>
  /** The secret of this name with the reference of its value; rejects where a run cannot be given it. */
  secret(name: string): Promise<GivenSecret>
  readonly sandboxed: boolean
  /** What runs that say nothing of it have for their retries. */
  readonly retry: NonNullable<StartRun['retry']>
  readonly build: string
}

const refuse = (code: ProblemCode, detail: string): never => {
  throw new Problem(code, detail)
}

/** Tools that can do nothing without a folder. */
const needsFolder = (tool: ToolSpec): boolean => !tool.control && Object.keys(tool.paths).length > 0

function offered(services: PrepareServices, asked: StartRun, role: RoleDefinition | null): ToolSpec[] {
  const all = services.tools(role)
  const names = asked.tools
  const unknown = names?.filter((name) => !all.some((tool) => tool.name === name)) ?? []
  if (unknown.length > 0) {
    refuse('UNKNOWN_TOOL', `there is no tool ${unknown.join(', ')}; there are ${all.map((t) => t.name).join(', ')}`)
  }
  const chosen = all.filter((tool) => tool.control || names === undefined || names.includes(tool.name))
  if (asked.workspace !== undefined) return chosen
  const folderless = names?.filter((name) => chosen.some((tool) => tool.name === name && needsFolder(tool))) ?? []
  if (folderless.length > 0) refuse('WORKSPACE_MISSING', `${folderless.join(', ')}: name a workspace for these tools`)
  return chosen.filter((tool) => !needsFolder(tool))
}

/** Standing approvals of tools that there are; a slip of the pen would only be noticed when the run waits. */
function checkApproved(services: PrepareServices, role: RoleDefinition | null, patterns: readonly string[]): void {
  const all = services.tools(role).map((tool) => tool.name)
  const unknown = patterns.filter((pattern) => !all.some((name) => matches(pattern, name)))
  if (unknown.length > 0) {
    refuse('UNKNOWN_TOOL', `approve: there is no tool ${unknown.join(', ')}; there are ${all.join(', ')}`)
  }
}

async function checkSandbox(
  services: PrepareServices,
  policy: Policy,
  tools: readonly ToolSpec[],
  workspace: StartWorkspace | null,
): Promise<void> {
  if (!policy.sandboxed || workspace === null || !tools.some((tool) => tool.name === 'run_command')) return
  const fault = await services.sandboxFault(workspace.path)
  if (fault !== null) {
    refuse('SANDBOX_UNAVAILABLE', `${fault}; or say "sandboxed": false (--no-sandbox), which is recorded with the run`)
  }
}

/** Resolves a request into everything in force, so that the log explains itself. Rejects with what the services refuse. */
export function createStarts(services: PrepareServices): Starts {
  return {
    async prepare(asked) {
      const role = asked.role === undefined ? null : services.role(asked.role)
      if (asked.role !== undefined && role === null) {
        refuse('UNKNOWN_ROLE', `there is no role "${asked.role}"; there are ${services.roleNames().join(', ')}`)
      }
      const { maxTurns, wallClockMs } = asked.limits ?? {}
      const policy = PolicySchema.parse({ sandboxed: services.sandboxed, ...asked.policy })
      const recovery = RecoveryConfig.parse({ ...asked.recovery })
      const tools = offered(services, asked, role)
      checkApproved(services, role, asked.approve ?? [])
      const secrets = await Promise.all([...new Set(asked.secrets ?? [])].map((name) => services.secret(name)))
      const requested = services.model(asked.model ?? services.defaultModel)
      const safeDefault = services.model(services.safeDefaultModel ?? requested.id)
      const workspace =
        asked.workspace === undefined ? null : await services.workspace(asked.workspace, { secrets, policy })
      await checkSandbox(services, policy, tools, workspace)
      return {
        role,
        policy,
        limits: {
          maxTurns: maxTurns ?? (role ? role.maxReactLoop + recovery.graceTurns : DEFAULT_TURNS),
          wallClockMs: wallClockMs ?? null,
        },
        recovery,
        retry: ErrorRecoveryPolicy.parse({ modelOutageMs: MODEL_OUTAGE_MS, ...services.retry, ...asked.retry }),
        context: ContextManagementConfig.parse({ ...asked.context }),
        budget: { tokens: asked.budget?.tokens ?? null, nanoDollars: asked.budget?.nanoDollars ?? null },
        models: {
          requested: requested.id,
          safeDefault: safeDefault.id,
          known: requested.id === safeDefault.id ? [requested] : [requested, safeDefault],
        },
        tools,
        workspace: workspace && { path: workspace.path, tree: workspace.tree },
        testCommand: asked.testCommand ?? (workspace?.testCommand ? [...workspace.testCommand] : null),
        contextVariables: asked.contextVariables ?? {},
        secrets,
        ...(asked.instructions === undefined ? {} : { instructions: asked.instructions }),
        build: services.build,
      } satisfies AgentSpec
    },
  }
}
