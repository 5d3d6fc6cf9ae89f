import { ErrorRecoveryPolicy, MODEL_OUTAGE_MS, Policy as PolicySchema } from '../../../domain/calls/policy-schema.ts'
import { matches } from '../../../domain/calls/tools/tool-patterns.ts'
import type { ToolSpec } from '../../../domain/calls/tools/tool-spec.ts'
import { echo, echoList } from '../../../domain/log/issues.ts'
import type { GivenSecret } from '../../../domain/secrets/destinations.ts'
import { grantOf, serverOf } from '../../../domain/secrets/destinations.ts'
import { grantText } from '../../../domain/secrets/grant-text.ts'
import type { RoutingConfig } from '../../../domain/tree/routing-config.ts'
import type { AgentSpec, Knowledge, ModelInfo, RoleDefinition } from '../../../domain/tree/spec.ts'
import { ContextManagementConfig, canRunCommands, RecoveryConfig } from '../../../domain/tree/spec.ts'
import type { KnownRole, KnownRoles } from '../definitions/roles.ts'
import type { KnownTools } from '../definitions/tools.ts'
import { asProblem, Problem, type ProblemCode } from '../problem.ts'
import type { Starts } from '../services.ts'
import { DELEGATE, delegationOf, type GivenBackends } from './prepare-delegation.ts'
import type { StartRun } from './start-schemas.ts'

/** The turn limit of a run without a limit and a role. */
export const DEFAULT_TURNS = 25

/** A workspace at the start of a run. */
export interface StartWorkspace {
  /** The real path. */
  readonly path: string
  readonly tree: string | null
  /** The folder's test command, if any (`npm test` of its package.json). */
  readonly testCommand: readonly string[] | null
}

/** The services for preparing a run. */
export interface PrepareServices {
  roles(): Promise<KnownRoles>
  /** Rejects or throws for an unknown model. */
  model(id: string): ModelInfo
  readonly defaultModel: string
  /** Null: the requested one. */
  readonly safeDefaultModel: string | null
  /** The rules of runs without a model. Absent: these runs use `defaultModel`. */
  readonly routing?: RoutingConfig
  /** Whether runs without a setting may use the request cache. */
  readonly cache?: boolean
  /** The available tools of a run in this folder, and the faults of the others. */
  tools(role: RoleDefinition | null, workspace: string | null): Promise<KnownTools>
  /** Rejects for an unusable folder, or if another run works in it. */
  workspace(path: string, about: Pick<AgentSpec, 'secrets' | 'policy'>): Promise<StartWorkspace>
  /** Why commands cannot be confined on this host. Null: they can. */
  sandboxFault(workspace: string): Promise<string | null>
  /** The secret of this name with the reference of its value. Rejects if a run cannot use it. */
  secret(name: string): Promise<GivenSecret>
  readonly sandboxed: boolean
  /** The default retry policy of runs. */
  readonly retry: NonNullable<StartRun['retry']>
  /** The default context settings of runs. */
  readonly context: NonNullable<StartRun['context']>
  /** The present knowledge of the settings. Rejects if a part of it is unreadable. */
  knowledge(): Promise<readonly Knowledge[]>
  /** The default tree limits of runs. Null: runs do not delegate. */
  readonly delegation: Exclude<StartRun['delegation'], false | undefined> | null
  /**
   * Roles that the settings assign to external agents. Absent: none. Throws `UNKNOWN_AGENT` for a kind that this host
   * does not have.
   */
  readonly backends?: (() => GivenBackends) | undefined
  readonly build: string
}

const refuse = (code: ProblemCode, detail: string): never => {
  throw new Problem(code, detail)
}

/** Whether a tool needs a folder. */
const needsFolder = (tool: ToolSpec): boolean => !tool.control && Object.keys(tool.paths).length > 0

function offered({ specs, faults }: KnownTools, asked: StartRun): ToolSpec[] {
  const names = asked.tools
  const unknown = names?.filter((name) => !specs.some((tool) => tool.name === name)) ?? []
  if (unknown.length > 0) {
    refuse('UNKNOWN_TOOL', `there is no tool ${echoList(unknown)}; ${thereAre(specs, faults)}`)
  }
  const chosen = specs.filter((tool) => tool.control || names === undefined || names.includes(tool.name))
  if (asked.workspace !== undefined) return chosen
  const folderless = names?.filter((name) => chosen.some((tool) => tool.name === name && needsFolder(tool))) ?? []
  if (folderless.length > 0) refuse('WORKSPACE_MISSING', `${echoList(folderless)}: name a workspace for these tools`)
  return chosen.filter((tool) => !needsFolder(tool))
}

const thereAre = (specs: readonly ToolSpec[], faults: readonly string[]): string =>
  [`there are ${specs.map((tool) => tool.name).join(', ')}`, ...faults].join('; ')

/** Refuses standing approvals of unknown tools. Otherwise a typing error would show only when the run waits. */
function checkApproved({ specs, faults }: KnownTools, patterns: readonly string[]): void {
  const unknown = patterns.filter((pattern) => !specs.some(({ name }) => matches(pattern, name)))
  if (unknown.length > 0) {
    refuse('UNKNOWN_TOOL', `approve: there is no tool ${echoList(unknown)}; ${thereAre(specs, faults)}`)
  }
}

/** A secret with its destination. A server without any tool is refused, because the grant may be misspelt. */
async function granted(services: PrepareServices, { specs, faults }: KnownTools, text: string): Promise<GivenSecret> {
  const grant = grantOf(text)
  if (typeof grant === 'string') return refuse('INVALID_REQUEST', `secrets: ${JSON.stringify(echo(text))}: ${grant}`)
  const { name, server } = grant
  if (server !== undefined && !specs.some((tool) => serverOf(tool.name) === server))
    refuse('UNKNOWN_TOOL', `secrets: no tool of a server "${echo(server)}" is known; ${thereAre(specs, faults)}`)
  return { ...grant, ...(await services.secret(name)) }
}

/** The role that a request names. Null: none. */
async function roleOf(services: PrepareServices, name: string | undefined): Promise<KnownRole | null> {
  if (name === undefined) return null
  const { roles, faults } = await services.roles()
  const found = roles.find((role) => role.name === name)
  if (found !== undefined) return found
  const known = `there are ${roles.map((role) => role.name).join(', ')}`
  return refuse('UNKNOWN_ROLE', [`there is no role "${echo(name)}"; ${known}`, ...faults].join('; '))
}

/** The refusals have the same code at every entrance, also in the library. */
function modelOf(services: PrepareServices, id: string): ModelInfo {
  try {
    return services.model(id)
  } catch (error) {
    throw asProblem(error) ?? error
  }
}

/** The models of a run: the one that it names, or those of its rules. The role's model counts as named by the run. */
function modelsOf(services: PrepareServices, asked: StartRun, ofRole: string | null): AgentSpec['models'] {
  if (asked.model !== undefined && asked.routing !== undefined)
    refuse('INVALID_REQUEST', 'give either model, or routing with the models that its rules choose among')
  const name = asked.model ?? (asked.routing === undefined ? (ofRole ?? undefined) : undefined)
  const routing = name === undefined ? (asked.routing ?? services.routing) : undefined
  const requested = name ?? (routing === undefined ? services.defaultModel : routing.models[0]!)
  const safeDefault = services.safeDefaultModel ?? requested
  const ids = new Set([requested, safeDefault, ...(routing?.models ?? [])])
  const known = [...ids].map((id) => modelOf(services, id))
  return { requested, safeDefault, known, ...(routing && { routing }) }
}

async function checkSandbox(
  services: PrepareServices,
  spec: Pick<AgentSpec, 'policy' | 'tools' | 'role'>,
  workspace: StartWorkspace | null,
): Promise<void> {
  if (!spec.policy.sandboxed || workspace === null || !canRunCommands(spec)) return
  const fault = await services.sandboxFault(workspace.path)
  if (fault !== null) {
    refuse('SANDBOX_UNAVAILABLE', `${fault}; or say "sandboxed": false (--no-sandbox), which is recorded with the run`)
  }
}

/** Knowledge of a request replaces knowledge of the same name in the settings. */
const withOwn = (settings: readonly Knowledge[], own: readonly Knowledge[]): readonly Knowledge[] => [
  ...settings.filter(({ name }) => !own.some((one) => one.name === name)),
  ...own,
]

/**
 * Resolves a request into a complete spec, so that the log is self-contained. Rejects with the refusals of the
 * services.
 */
export function createStarts(services: PrepareServices): Starts {
  return {
    async prepare(asked) {
      const named = await roleOf(services, asked.role)
      const role = named?.definition ?? null
      const { maxTurns, wallClockMs } = asked.limits ?? {}
      const policy = PolicySchema.parse({ sandboxed: services.sandboxed, ...asked.policy })
      const recovery = RecoveryConfig.parse({ ...asked.recovery })
      const known = await services.tools(role, asked.workspace ?? null)
      const tools = offered(known, asked)
      checkApproved(known, asked.approve ?? [])
      const grants = await Promise.all((asked.secrets ?? []).map((one) => granted(services, known, one)))
      const secrets = [...new Map(grants.map((one) => [grantText(one), one])).values()]
      const models = modelsOf(services, asked, named?.model ?? null)
      const workspace =
        asked.workspace === undefined ? null : await services.workspace(asked.workspace, { secrets, policy })
      const knowledge = withOwn(await services.knowledge(), asked.knowledge ?? [])
      await checkSandbox(services, { policy, tools, role }, workspace)
      const granting = { budget: asked.budget, backends: services.backends }
      const limits = asked.delegation ?? services.delegation ?? false
      const delegation =
        limits === false ? null : delegationOf(await services.roles(), { limits, policy, workspace, ...granting })
      return {
        role,
        policy,
        limits: {
          maxTurns: maxTurns ?? (role ? role.maxReactLoop + recovery.graceTurns : DEFAULT_TURNS),
          wallClockMs: wallClockMs === undefined ? (named?.wallClockMs ?? null) : wallClockMs,
        },
        recovery,
        retry: ErrorRecoveryPolicy.parse({ modelOutageMs: MODEL_OUTAGE_MS, ...services.retry, ...asked.retry }),
        context: ContextManagementConfig.parse({ ...services.context, ...asked.context }),
        budget: { tokens: asked.budget?.tokens ?? null, nanoDollars: asked.budget?.nanoDollars ?? null },
        models: { ...models, ...((asked.cache ?? services.cache) && { cache: true }) },
        tools: delegation === null ? tools : [...tools, DELEGATE],
        ...(delegation === null ? {} : { delegation }),
        workspace: workspace && { path: workspace.path, tree: workspace.tree },
        testCommand: asked.testCommand ?? (workspace?.testCommand ? [...workspace.testCommand] : null),
        contextVariables: asked.contextVariables ?? {},
        secrets,
        ...(asked.instructions === undefined ? {} : { instructions: asked.instructions }),
        ...(knowledge.length === 0 ? {} : { knowledge: [...knowledge] }),
        build: services.build,
      } satisfies AgentSpec
    },
  }
}
