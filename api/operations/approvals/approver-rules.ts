import type { UserCommand } from '../../../domain/agent/decide/commands.ts'
import { agentOfCall } from '../../../domain/agent/runtime/history/results.ts'
import { agentSpecOf } from '../../../domain/agent/runtime/history/spec.ts'
import { withApprovers } from '../../../domain/calls/approvers.ts'
import type { Policy } from '../../../domain/calls/policy-schema.ts'
import { needsSeveral } from '../../../domain/tree/rights.ts'
import { Problem } from '../problem.ts'
import type { Services } from '../services.ts'

/** The policy of a new run with the rules of access about approvers, so that the log of the run says what is in force. */
export async function withAccessRules(s: Pick<Services, 'access'>, policy: Policy): Promise<Policy> {
  return withApprovers(policy, (await s.access.state())?.approvers ?? [])
}

/**
 * Rejects with SPEC_REFUSED the fork of a run that began before the present rules of access: a fork has the policy of its
 * source. Undefined: the policy is not readable, so the fork fails by itself.
 */
export async function mustHaveAccessRules(s: Pick<Services, 'access'>, policy: Policy | undefined): Promise<void> {
  if (policy === undefined || (await withAccessRules(s, policy)) === policy) return
  throw new Problem(
    'SPEC_REFUSED',
    'the run began before a rule of access about approvers (see GET /v1/access), and a fork keeps the policy of its source; start a new run',
  )
}

/** Rejects with SPEC_REFUSED if a rule asks several people about actions that this kind of agent takes by itself. */
export async function mustNeedOneApprover(s: Pick<Services, 'access'>, kind: string): Promise<void> {
  const approvers = [...((await s.access.state())?.approvers ?? [])]
  if (!needsSeveral({ approvers })) return
  throw new Problem(
    'SPEC_REFUSED',
    `a rule of access asks for several approvers of files or commands (see GET /v1/access), and what ${kind} asks for itself has one; use keepup's own agent, or change the rule`,
  )
}

/**
 * Rejects with RUN_UNGOVERNED the approval of a permission for another agent's own tool if several people must give it:
 * a question of an external agent has a single approver. The rules are those of the delegating run, else the present ones of access.
 */
export async function mustNotNeedSeveral(s: Services, runId: string, command: UserCommand): Promise<void> {
  if (command.kind !== 'decide_approval' || command.decision !== 'approved' || s.agents === null) return
  const { toolCallId } = command
  const agentId = agentOfCall(toolCallId)
  const state = agentId === null ? null : await (await s.agents.log()).log.state(agentId)
  if (!state?.permissions.last.some((one) => one.toolCallId === toolCallId)) return
  await s.read.current()
  const { value } = await s.read.approval(toolCallId)
  const delegating = (await agentSpecOf(s, runId))?.spec.policy
  const { approvers = [] } = delegating ?? (await s.access.state()) ?? {}
  if (!needsSeveral({ approvers: [...approvers] }, value?.toolName)) return
  throw new Problem(
    'RUN_UNGOVERNED',
    `several people must approve ${toolCallId}, and what another agent asks for itself has one approver; reject it, or have keepup's own agent do the task`,
  )
}
