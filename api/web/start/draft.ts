import { canonicalTool, covers } from '../../../domain/calls/tools/tool-patterns.ts'
import type { StartRunInput } from '../../operations/runs/start-schemas.ts'
import { defined } from './recorded-settings.ts'

/** The texts of the start form by the names of its fields. An absent field is empty. */
export type Draft = Readonly<Partial<Record<string, string>>>

/** What a run may do with a tool: `asks` a person at each call, `approved` beforehand, or `withheld`. */
export const TOOL_RULES = ['asks', 'approved', 'withheld'] as const
const RULE = 'tool:'
/** The field of a tool's rule. */
export const ruleField = (tool: string): string => `${RULE}${tool}`

/** The `pattern` of a field for a whole number above 0, and for a number above 0 with up to nine decimals. */
export const WHOLE = '0*[1-9][0-9]{0,15}'
export const DECIMAL = '(?=.*[1-9])[0-9]{1,9}([.][0-9]{1,9})?'

/** The filled fields of a form. */
export const draftIn = (form: FormData): Draft =>
  Object.fromEntries([...form].map(([name, value]) => [name, String(value).trim()]).filter(([, text]) => text !== ''))

/** The tools that the form has a rule for: the listed ones, and those that only the draft or the base names. */
export const toolsOf = (draft: Draft, listed: readonly string[], base: StartRunInput = {}): readonly string[] => {
  const ruled = Object.keys(draft).filter((field) => field.startsWith(RULE))
  return [...new Set([...listed, ...(base.tools ?? []), ...ruled.map((field) => field.slice(RULE.length))])]
}

/** The patterns of the base that ask for approval, and that no field of the form can change. */
export const keptPatterns = (base: StartRunInput, tools: readonly string[]): readonly string[] =>
  (base.policy?.requiresApproval ?? []).filter((pattern) => !tools.includes(canonicalTool(pattern)))

/** A base applies to its own kind of agent only. */
const baseFor = (agent: string | undefined, base: StartRunInput): StartRunInput => (base.agent === agent ? base : {})

const MINUTE = 60_000
const NANO = 9

/**
 * The request that a draft asks for. `listed`: the names of the tools that the server lists. `base`: the request that
 * contains the settings without a field.
 */
export function requestOf(
  draft: Draft,
  listed: readonly string[],
  by: string,
  earlier: StartRunInput = {},
): StartRunInput {
  const { agent, task, role, model, workspace, mode, instructions } = draft
  const base = baseFor(agent, earlier)
  const dollars = draft.dollars === undefined ? undefined : scaled(draft.dollars, NANO)
  const tokens = draft.tokens === undefined ? undefined : Number(draft.tokens)
  const minutes = draft.minutes === undefined ? undefined : Math.round(Number(draft.minutes) * MINUTE)
  // An emptied field of a base's figure asks for no limit, and not for the default.
  const budget = some({
    nanoDollars: dollars ?? emptied(base.budget, 'nanoDollars'),
    tokens: tokens ?? emptied(base.budget, 'tokens'),
  })
  const wallClockMs = minutes ?? emptied(base.limits, 'wallClockMs')
  const common = { task, model, workspace, budget, by }
  if (agent !== undefined)
    return defined({ ...base, ...common, agent, limits: some({ wallClockMs: wallClockMs ?? undefined }) })
  const tools = toolsOf(draft, listed, base)
  const named = (rule: (typeof TOOL_RULES)[number]) => tools.filter((name) => draft[ruleField(name)] === rule)
  const patterns = keptPatterns(base, tools)
  const asks = [...patterns, ...named('asks').filter((name) => !covers(patterns, name))]
  const withheld = named('withheld')
  const approved = named('approved')
  const secrets = draft.secrets?.split(/[\s,]+/)
  return defined({
    ...base,
    ...common,
    role,
    routing: model === undefined ? base.routing : undefined,
    policy: some({
      ...base.policy,
      mode: mode === 'batch' ? ('batch' as const) : emptied(base.policy, 'mode', 'interactive'),
      requiresApproval: asks.length > 0 ? asks : emptied(base.policy, 'requiresApproval', []),
    }),
    limits: some({ maxTurns: draft.turns === undefined ? undefined : Number(draft.turns), wallClockMs }),
    approve: approved.length > 0 ? approved : undefined,
    tools:
      withheld.length > 0 || base.tools !== undefined ? tools.filter((name) => !withheld.includes(name)) : undefined,
    secrets: secrets ?? emptied(base, 'secrets', []),
    delegation: { none: false as const, base: base.delegation }[draft.delegation ?? ''],
    instructions,
  })
}

/** The value for an empty field: `value` if the base has the member, else undefined. */
const emptied = <V = null>(base: object | undefined, member: string, value: V = null as V): V | undefined =>
  (base as Record<string, unknown> | undefined)?.[member] === undefined ? undefined : value

/** The draft of a request. Settings without a field are left out: {@link requestOf} takes them from its base. */
export function draftOf(request: StartRunInput, listed: readonly string[]): Draft {
  const { agent, task, role, model, workspace, policy, budget, limits, secrets = [], delegation, tools } = request
  const rule = (name: string) =>
    tools !== undefined && !tools.includes(name)
      ? 'withheld'
      : covers(policy?.requiresApproval ?? [], name)
        ? 'asks'
        : request.approve?.includes(name)
          ? 'approved'
          : undefined
  const wallClockMs = limits?.wallClockMs
  const rules = agent === undefined ? toolsOf({}, listed, request).map((name) => [ruleField(name), rule(name)]) : []
  return defined({
    ...{ agent, task, role, model, workspace, instructions: request.instructions },
    mode: policy?.mode === 'batch' ? 'batch' : undefined,
    dollars: budget?.nanoDollars == null ? undefined : decimal(budget.nanoDollars, NANO),
    tokens: budget?.tokens == null ? undefined : String(budget.tokens),
    turns: limits?.maxTurns === undefined ? undefined : String(limits.maxTurns),
    minutes: wallClockMs == null ? undefined : decimalText(wallClockMs / MINUTE),
    secrets: secrets.join(', ') || undefined,
    delegation: delegation === undefined ? undefined : delegation === false ? 'none' : 'base',
    ...Object.fromEntries(rules),
  }) as Draft
}

/** The settings of a base that a request contains although the form has no field for them, with their values. */
export function unshown(base: StartRunInput, draft: Draft, listed: readonly string[]): readonly [string, unknown][] {
  const { agent, role, task, workspace, budget, limits, tools, secrets, instructions, by, approve, ...rest } = base
  const { model, delegation, policy, routing, cache, ...settings } = rest
  const { mode, requiresApproval, ...rules } = policy ?? {}
  const patterns = keptPatterns(base, toolsOf(draft, listed, base))
  return Object.entries(
    defined({
      ...Object.fromEntries(Object.entries(rules).map(([name, value]) => [`policy.${name}`, value])),
      'policy.requiresApproval': patterns.length === 0 ? undefined : patterns,
      routing,
      cache,
      ...settings,
    }),
  )
}

/** A decimal number times 10 to the power of `places`, exactly. Further decimals are ignored. */
function scaled(text: string, places: number): number {
  const [whole = '', decimals = ''] = text.split('.')
  return Number(`${whole}${decimals.slice(0, places).padEnd(places, '0')}`)
}

/** A whole number divided by 10 to the power of `places`, exactly. */
function decimal(value: number, places: number): string {
  const digits = String(value).padStart(places + 1, '0')
  return trimmed(`${digits.slice(0, -places)}.${digits.slice(-places)}`)
}

const decimalText = (value: number): string => trimmed(value.toFixed(9))

/** A decimal number without zeros at its end. */
const trimmed = (text: string): string => text.replace(/\.?0+$/, '')

/** The given members, or undefined if there are none. */
function some<T extends object>(members: T) {
  const given = defined(members)
  return Object.keys(given).length === 0 ? undefined : given
}
