import type { JsonObject } from '../../../domain/log/json.ts'
import type {
  AgentTreeNode,
  Ancestor,
  ApprovalSubject,
  CallDecisionWithSupports,
  CauseFigures,
  listApprovals,
  listArtifacts,
  listParked,
  OpenCall,
  RebuildReport,
  RecordedChild,
  RunSummary,
  StoredCheckpoint,
  showTree,
  UsageSum,
} from '../../../projections/index.ts'
import { approvalCount } from '../../operations/approvals/approval-count.ts'
import { severalApprovers } from '../../operations/approvals/several-approvers.ts'
import type { CallDecision } from '../../operations/decisions/schemas.ts'
import type { AgentPoint } from '../../operations/history/point.ts'
import type {
  AgentRow,
  ApprovalRow,
  ArtifactRow,
  AskRow,
  CheckpointRow,
  ParkedRow,
  RunRow,
  TreeRow,
  WholeCheckpoint,
} from '../../operations/read-model.ts'
import type { Bill, Waiting } from '../../operations/runs/schemas.ts'

// Converts rows of the projections to the form of the API.

type Approval = Awaited<ReturnType<typeof listApprovals>>[number]
type Artifact = Awaited<ReturnType<typeof listArtifacts>>[number]
type Parked = Awaited<ReturnType<typeof listParked>>[number]

export const parkedRow = ({ stream, run_id, revision, code, message }: Parked): ParkedRow => ({
  ...{ stream, runId: run_id, revision, code, error: message },
})

/** An amount in both units. */
const money = (nanoDollars: number | null) => ({
  nanoDollars,
  usd: nanoDollars === null ? null : nanoDollars / 1e9,
})

/** A line of the costs. Money in nano-dollars, without calls of unknown cost. Null: no cost is known. */
export const costRow = (sum: UsageSum) => ({
  modelCalls: sum.calls,
  inputTokens: sum.input,
  cacheReadTokens: sum.cacheRead,
  cacheWriteTokens: sum.cacheWrite,
  outputTokens: sum.output,
  ...money(sum.unpriced > 0 && sum.nanoDollars === 0 ? null : sum.nanoDollars),
  unpricedCalls: sum.unpriced,
  inDoubtNanoDollars: sum.inDoubt.nanoDollars,
})

export const causeCostRow = ({ nanoDollars, unpriced, ...row }: CauseFigures) => ({
  ...row,
  ...money(unpriced > 0 && nanoDollars === 0 ? null : nanoDollars),
  unpricedCalls: unpriced,
})

export const billOf = (usage: UsageSum, toolCalls: number): Bill => ({
  inputTokens: usage.untold > 0 ? null : usage.input,
  outputTokens: usage.untold > 0 ? null : usage.output,
  cacheReadTokens: usage.untold > 0 ? null : usage.cacheRead,
  cacheWriteTokens: usage.untold > 0 ? null : usage.cacheWrite,
  ...money(usage.unpriced > 0 ? null : usage.nanoDollars),
  modelCalls: usage.calls,
  toolCalls,
  inDoubt: {
    modelCalls: usage.inDoubt.calls,
    tokens: usage.inDoubt.tokens,
    ...money(usage.unpriced > 0 ? null : usage.inDoubt.nanoDollars),
  },
})

export function runRow(run: RunSummary, root: AgentTreeNode | null): RunRow {
  const bill = billOf(run.usage, run.toolCalls)
  return {
    runId: run.id,
    agentId: run.id,
    status: run.status as RunRow['status'],
    machineState: run.machineState,
    paused: run.paused,
    role: run.role,
    phase: run.phase,
    model: run.model,
    task: run.task,
    workspace: run.workspace,
    backend: run.backend,
    ungoverned: run.backend !== null,
    turn: run.turns,
    step: run.step,
    revision: run.revision,
    createdAt: run.created_at,
    updatedAt: run.updated_at,
    summary: run.summary,
    error: run.code === null ? null : { code: run.code, message: run.error ?? '' },
    partialOutput: run.partial_output,
    unmetGates: run.unmet_gates === null ? [] : (JSON.parse(run.unmet_gates) as string[]),
    waiting: waitingOf(run.waiting),
    own: root === null ? bill : billOf(root.own, root.ownCalls),
    total: bill,
    source: run.forked_from === null ? null : { agentId: run.forked_from, step: run.forked_step ?? 0 },
    continues: run.continues,
    incomplete: run.incomplete > 0,
    tags: run.tags,
  }
}

const URGENCY: readonly Waiting['for'][] = ['approval', 'doubt', 'pause', 'input', 'model']

/** Everything that the run waits for, the most urgent first: a decision, a doubt, a pause, an answer, its models. */
const waitingOf = (waiting: RunSummary['waiting']): Waiting[] =>
  URGENCY.flatMap((reason) => waiting.filter((one) => one.for === reason))

export function agentRows(tree: readonly AgentTreeNode[], waiting: readonly Waiting[]): AgentRow[] {
  return tree.flatMap(({ agent, own, total, budget, ownCalls, totalCalls, children, ...standing }) => [
    {
      agentId: agent.id,
      parentId: agent.parent_agent_id,
      depth: agent.depth,
      role: agent.role === '' ? null : agent.role,
      task: standing.task,
      backend: agent.backend,
      ungoverned: agent.ungoverned === 1,
      phase: standing.phase,
      status: agent.status as AgentRow['status'],
      machineState: standing.machineState,
      paused: standing.paused,
      turn: agent.turn,
      step: agent.step,
      code: agent.code,
      unmetGates: standing.unmetGates,
      unreached: standing.unreached,
      createdAt: agent.created_at,
      completedAt: agent.completed_at,
      waiting: waitingOf(waiting.filter(({ agentId }) => agentId === agent.id)),
      own: billOf(own, ownCalls),
      total: billOf(total, totalCalls),
      budget: budget && booksOf(budget),
    },
    ...agentRows(children, waiting),
  ])
}

/** Null: the run does not exist. */
export const treeRow = ({ tree, waiting, recorded }: Awaited<ReturnType<typeof showTree>>): TreeRow | null =>
  tree.length === 0
    ? null
    : { agents: agentRows(tree, waiting), recorded: recorded as readonly RecordedChild[] as TreeRow['recorded'] }

const booksOf = (row: NonNullable<AgentTreeNode['budget']>): AgentRow['budget'] => {
  const of = <K extends 'tokens' | 'nano_dollars' | 'agents'>(kind: K) => ({
    given: row[`budget_${kind}`],
    spent: row[`spent_${kind}`],
    reserved: row[`reserved_${kind}`],
    uncertain: row[`uncertain_${kind}`],
  })
  return { tokens: of('tokens'), nanoDollars: of('nano_dollars'), agents: of('agents') }
}

/** The path to an agent. Only the agent itself if the tables do not contain its parents. */
const pathTo = (agentId: string, paths: Paths): readonly Ancestor[] => paths.get(agentId) ?? [{ agentId, role: null }]
type Paths = ReadonlyMap<string, readonly Ancestor[]>

export const approvalRow = (row: Approval, subject: ApprovalSubject, paths: Paths): ApprovalRow => ({
  toolCallId: row.tool_call_id,
  runId: row.run_id,
  agentId: row.agent_id,
  agentPath: pathTo(row.agent_id, paths),
  toolName: row.tool_name ?? '',
  argumentsHash: row.arguments_hash ?? '',
  arguments: subject.arguments,
  secrets: subject.secrets,
  reason: row.reason ?? '',
  requestedAt: row.requested_at ?? '',
  expiresAt: row.expires_at ?? '',
  state: row.status as ApprovalRow['state'],
  by: row.decided_by,
  ...severalApprovers(row),
})

export const approvalAsk = (row: ApprovalRow): AskRow => {
  const { runId, agentId, agentPath, toolCallId, toolName, reason } = row
  const text = row.needed > 1 ? `${reason}; ${approvalCount(row)}` : reason
  return { for: 'approval', runId, agentId, agentPath, toolCallId, toolName, arguments: row.arguments, text }
}

/** A doubt or a question, with the arguments from the model. */
export function askRow(why: AskRow['for'], call: OpenCall, args: JsonObject | null, paths: Paths): AskRow {
  const { run_id: runId, agent_id: agentId, id: toolCallId, tool_name: toolName, message } = call
  const said = why === 'input' ? args?.question : message
  const text = typeof said === 'string' ? said : ''
  const agentPath = pathTo(agentId, paths)
  return { for: why, runId, agentId, agentPath, toolCallId, toolName, arguments: args, text }
}

export function artifactRow(row: Artifact): ArtifactRow {
  const some = <K extends string, T>(key: K, value: T | null) => (value === null ? {} : { [key]: value })
  return {
    artifact: {
      id: row.artifact_id,
      type: row.artifact_type as ArtifactRow['artifact']['type'],
      ...some('title', row.title),
      ...some('path', row.path),
      ...some('content', row.content),
      ...metadata(row.metadata),
      ...(row.claimed === 1 ? { claimed: true as const } : {}),
    },
    runId: row.run_id,
    agentId: row.agent_id,
    registeredWith: row.registered_with,
    checkpointId: row.checkpoint_id,
    createdAt: row.created_at,
  }
}

export const checkpointRow = ({ id, agent_id, step, revision, turn, timestamp }: StoredCheckpoint): CheckpointRow => ({
  ...{ id, threadId: agent_id, step, revision, turn, timestamp },
})

/** A whole checkpoint: position and usage from the rows, the rest from the log. */
export const wholeCheckpoint = (
  row: StoredCheckpoint,
  usage: AgentPoint['usage'],
  { state, pendingToolCalls, completedToolResults, pendingCreates, documents }: AgentPoint,
): WholeCheckpoint => ({
  ...checkpointRow(row),
  ...{ state, pendingToolCalls, completedToolResults, pendingCreates, documents, usage },
})

function metadata(text: string | null): Record<string, never> {
  if (text === null) return {}
  const all = JSON.parse(text) as Record<string, unknown>
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null)) as Record<string, never>
}

export function rebuildRow({ switched, differences, events }: RebuildReport) {
  const told = (differences ?? []).map(
    ({ table, onlyLive, onlyRebuilt }) => `${table}: ${onlyLive} rows only live, ${onlyRebuilt} only rebuilt`,
  )
  return { events, equal: differences && told.length === 0, switched, differences: told }
}

export const decisionRow = (row: CallDecisionWithSupports): CallDecision => ({
  toolCallId: row.call_id,
  runId: row.run_id,
  agentId: row.agent_id,
  toolName: row.tool,
  effect: row.effect,
  decision: row.decision,
  method: row.method,
  rule: row.rule,
  principal: row.principal,
  claimed: row.claimed === 1,
  ...severalApprovers(row),
  policyHash: row.policy_hash,
  shownHash: row.shown_hash,
  askedAt: row.asked_at,
  decidedAt: row.decided_at,
})
