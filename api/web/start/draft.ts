import type { RecordedRequest } from '../../../domain/external/events.ts'
import { grantText } from '../../../domain/secrets/grant-text.ts'
import type { AgentSpec } from '../../../domain/tree/spec.ts'
import type { Role } from '../../operations/definitions/schemas.ts'
import type { StartRunInput } from '../../operations/runs/start-schemas.ts'

/** The texts of the start form by the names of its fields. An absent field is empty. */
export type Draft = Readonly<Partial<Record<string, string>>>

/** What a run may do with a tool: `asks` a person at each call, `approved` beforehand, or `withheld`. */
export const TOOL_RULES = ['asks', 'approved', 'withheld'] as const
/** The field of a tool's rule. */
export const ruleField = (tool: string): string => `tool:${tool}`

/** The filled fields of a form. */
export const draftIn = (form: FormData): Draft =>
  Object.fromEntries([...form].map(([name, value]) => [name, String(value).trim()]).filter(([, text]) => text !== ''))

const MINUTE = 60_000
const NANO = 1e9

/** The request that a draft asks for. `tools`: the names of all tools that a run can have. */
export function requestOf(draft: Draft, tools: readonly string[], by: string): StartRunInput {
  const { agent, task, role, model, workspace, mode, delegation, instructions } = draft
  const number = (text: string | undefined, unit = 1) =>
    text === undefined ? undefined : Math.round(Number(text) * unit)
  const named = (rule: (typeof TOOL_RULES)[number]) => {
    const found = tools.filter((name) => draft[ruleField(name)] === rule)
    return found.length === 0 ? undefined : found
  }
  const budget = some({ nanoDollars: number(draft.dollars, NANO), tokens: number(draft.tokens) })
  const wallClockMs = number(draft.minutes, MINUTE)
  const common = { task, model, workspace, budget, by }
  if (agent !== undefined) return defined({ ...common, agent, limits: some({ wallClockMs }) })
  const withheld = named('withheld')
  return defined({
    ...common,
    role,
    policy: some({ mode: mode as 'batch' | undefined, requiresApproval: named('asks') }),
    limits: some({ maxTurns: number(draft.turns), wallClockMs }),
    approve: named('approved'),
    tools: withheld && tools.filter((name) => !withheld.includes(name)),
    secrets: draft.secrets?.split(/[\s,]+/),
    delegation: delegation === 'none' ? (false as const) : undefined,
    instructions,
  })
}

/** The settings of a run that it was started with. */
export interface Settings {
  readonly task: string | null
  readonly spec: AgentSpec
  /** Tools that a person has approved beforehand. */
  readonly approved: readonly string[]
}

/** The draft that starts a run with the settings of another one. Settings that the form does not have are left out. */
export function draftOf({ task, spec, approved }: Settings, tools: readonly string[], roles: readonly Role[]): Draft {
  const { role, models, workspace, policy, budget, limits, secrets, instructions } = spec
  const offered = new Set(spec.tools.map(({ name }) => name))
  const rule = (name: string) =>
    !offered.has(name)
      ? 'withheld'
      : policy.requiresApproval.includes(name)
        ? 'asks'
        : approved.includes(name)
          ? 'approved'
          : undefined
  return defined({
    task: task ?? undefined,
    role: roles.find(({ definition }) => definition.name === role?.name)?.name,
    model: models.routing === undefined ? models.requested : undefined,
    workspace: workspace?.path,
    mode: policy.mode === 'batch' ? 'batch' : undefined,
    ...budgetFields(budget),
    turns: String(limits.maxTurns),
    minutes: limits.wallClockMs === null ? undefined : String(limits.wallClockMs / MINUTE),
    secrets: secrets.map(grantText).join(', ') || undefined,
    delegation: spec.delegation === undefined ? 'none' : undefined,
    instructions,
    ...Object.fromEntries(tools.map((name) => [ruleField(name), rule(name)])),
  }) as Draft
}

/** The draft that starts a run of another agent again. */
export const draftOfOther = (agent: string, request: RecordedRequest): Draft =>
  defined({
    agent,
    task: request.prompt,
    model: modelIn(request.extensions),
    workspace: request.workingDir,
    ...budgetFields(request.budget),
    minutes: request.timeoutMs === undefined ? undefined : String(request.timeoutMs / MINUTE),
  }) as Draft

const modelIn = (extensions: RecordedRequest['extensions']): string | undefined => {
  const model = extensions?.['agent_api.config.model.v1']
  return typeof model === 'string' ? model : undefined
}

const budgetFields = (budget: Partial<AgentSpec['budget']> = {}) => ({
  dollars: budget.nanoDollars == null ? undefined : String(budget.nanoDollars / NANO),
  tokens: budget.tokens == null ? undefined : String(budget.tokens),
})

const defined = <T extends object>(members: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never

/** The given members, or undefined if there are none. */
function some<T extends object>(members: T) {
  const given = defined(members)
  return Object.keys(given).length === 0 ? undefined : given
}
