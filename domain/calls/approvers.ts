import type { Call, Supporter } from './call.ts'
import type { Caller } from './caller.ts'
import type { ApproverRule, Policy } from './policy-schema.ts'
import { covers } from './tools/tool-patterns.ts'
import type { Effect } from './tools/tool-spec.ts'
import { controlKind } from './tools/tools.ts'

// Calls that need the approval of several people. All of them must see the same question.

/** A call as these rules read it. */
export interface JudgedCall {
  readonly toolName: string
  readonly effect: Effect
}

/** How many people must approve the call; null: no rule of the policy says so. `*` does not cover control tools. */
export function approversOf(caller: Pick<Caller, 'spec'>, { toolName, effect }: JudgedCall): number | null {
  const kind = controlKind(caller, toolName)
  return kind === 'completes' ? null : approversIn(caller.spec.policy, { toolName, effect }, kind !== false)
}

/** The same for a call of a tool outside a spec. */
export function approversIn(
  policy: Pick<Policy, 'approvers'>,
  { toolName, effect }: JudgedCall,
  isControl = false,
): number | null {
  const patterns = (tools: readonly string[]) => (isControl ? tools.filter((one) => one !== '*') : tools)
  const counts = rulesOf(policy)
    .filter(({ tools, effects }) => covers(patterns(tools), toolName) && (effects?.includes(effect) ?? true))
    .map(({ count }) => count)
  return counts.length === 0 ? null : Math.max(...counts)
}

const rulesOf = ({ approvers = [] }: Pick<Policy, 'approvers'>): readonly ApproverRule[] => approvers

/** Rules with further ones. Rules that are there already are not repeated. */
export function withRules(rules: readonly ApproverRule[], more: readonly ApproverRule[]): readonly ApproverRule[] {
  const key = ({ tools, effects = [], count }: ApproverRule) => JSON.stringify([tools, effects, count])
  const own = new Set(rules.map(key))
  const added = more.filter((rule) => !own.has(key(rule)))
  return added.length === 0 ? rules : [...rules, ...added]
}

/** A policy that also has these rules. */
export function withApprovers(policy: Policy, rules: readonly ApproverRule[]): Policy {
  const own = rulesOf(policy)
  const approvers = withRules(own, rules)
  return approvers === own || rules.length === 0 ? policy : { ...policy, approvers: [...approvers] }
}

/**
 * The supporters of a question. Those of another question, such as one about other files, do not count for it. `lapsed`:
 * ids of people who do not count any more.
 */
export const supportersOf = (
  { stage }: Pick<Call, 'stage'>,
  question: string,
  lapsed: readonly string[] = [],
): readonly Supporter[] =>
  stage.at === 'approval' || stage.at === 'doubt'
    ? (stage.supporters ?? []).filter((one) => one.question === question && !lapsed.includes(one.by))
    : []
