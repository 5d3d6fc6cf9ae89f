import canonicalize from 'canonicalize'
import type { RecordedRequest } from '../../../domain/external/events.ts'
import { grantText } from '../../../domain/secrets/grant-text.ts'
import type { AgentSpec } from '../../../domain/tree/spec.ts'
import type { Role } from '../../operations/definitions/schemas.ts'
import type { StartRunInput } from '../../operations/runs/start-schemas.ts'

/** The settings of a recorded run. */
export interface RecordedSettings {
  /** The request that starts a run with these settings, without standing approvals. */
  readonly request: StartRunInput
  /** The settings that this request cannot repeat, in words. */
  readonly lost: readonly string[]
}

/** The extension that names the model of another agent. The start request has a member of its own for it. */
const MODEL = 'agent_api.config.model.v1'

/** The settings of a run of keepup's own agent. `roles`: the present ones. */
export function settingsOf(task: string | undefined, spec: AgentSpec, roles: readonly Role[]): RecordedSettings {
  const { role, models, delegation, contextVariables } = spec
  const present = roles.find(({ definition }) => definition.name === role?.name)
  const changed = present !== undefined && canonicalize(present.definition) !== canonicalize(role)
  const request: StartRunInput = defined({
    task,
    role: present?.name ?? role?.name,
    ...(models.routing === undefined ? { model: models.requested } : { routing: models.routing }),
    cache: models.cache === true,
    policy: spec.policy,
    limits: spec.limits,
    recovery: spec.recovery,
    // Runs recorded without this member did not wait for their models.
    retry: { modelOutageMs: 0, ...spec.retry },
    context: spec.context,
    knowledge: spec.knowledge,
    tools: spec.tools.filter(({ control }) => !control).map(({ name }) => name),
    workspace: spec.workspace?.path,
    testCommand: spec.testCommand ?? undefined,
    contextVariables: contextVariables as NonNullable<StartRunInput['contextVariables']>,
    secrets: spec.secrets.map(grantText),
    budget: spec.budget,
    delegation: delegation === undefined ? false : { maxDepth: delegation.maxDepth, agents: delegation.agents },
    instructions: spec.instructions,
  })
  const lost = [
    ...(changed ? [`the role “${present.name}” as it was: it has another definition now`] : []),
    ...(spec.withheld === undefined
      ? []
      : [`the tools withheld from its agents: ${spec.withheld.join(', ') || 'none'}`]),
  ]
  return { request, lost }
}

/** The settings of a run of another agent. `confined`: whether its process was confined. */
export function settingsOfOther(agent: string, recorded: RecordedRequest, confined: boolean): RecordedSettings {
  const { [MODEL]: model, ...extensions } = recorded.extensions ?? {}
  const request: StartRunInput = defined({
    agent,
    task: recorded.prompt,
    model: typeof model === 'string' ? model : undefined,
    workspace: recorded.workingDir,
    limits: recorded.timeoutMs === undefined ? undefined : { wallClockMs: recorded.timeoutMs },
    budget: recorded.budget,
    extensions: Object.keys(extensions).length === 0 ? undefined : extensions,
    policy: confined ? { sandboxed: true } : undefined,
  })
  const names = recorded.envNames ?? []
  return {
    request,
    lost: names.length === 0 ? [] : [`its variables, whose values are not recorded: ${names.join(', ')}`],
  }
}

/** A fork's settings: those of its source with the changes of the fork. */
export function settingsOfFork(source: RecordedSettings, fork: Fork): RecordedSettings {
  const { request, lost } = source
  const { model, limits, budget } = fork.changes ?? {}
  const { routing, ...named } = request
  const changed: StartRunInput = {
    ...(model === undefined ? request : { ...named, model }),
    limits: { ...request.limits, ...limits },
    budget: { ...request.budget, ...budget },
  }
  return { request: fork.workspace == null ? changed : { ...changed, workspace: fork.workspace.path }, lost }
}
interface Fork {
  readonly workspace?: { readonly path: string } | null
  readonly changes?: Pick<StartRunInput, 'model' | 'limits' | 'budget'>
}

/** The members that have a value. */
export const defined = <T extends object>(members: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never
