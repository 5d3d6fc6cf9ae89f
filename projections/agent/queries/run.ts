import type { Kysely } from 'kysely'
import type { BudgetRow, Database, LineageRow } from '../../engine/schema/database.ts'
import type { Row } from '../../engine/schema/tables.ts'
import { type AgentStanding, machineStates } from './machine-state.ts'
import { phasesOf } from './phases.ts'
import { recordedChildren } from './recorded-children.ts'
import { callsByAgent, originsOf, type RunSummary, summaries, tasksOf } from './runs.ts'
import { addUsage, NO_USAGE, type UsageSum, usageBy } from './usage.ts'
import { waitingOf } from './waiting.ts'

/** An agent in its run's tree. `own`: its own usage; `total`: including all of its descendants. */
export interface AgentTreeNode extends AgentStanding {
  readonly agent: LineageRow
  /** The first input, up to 500 characters; null: none yet. A fork shows its source's. */
  readonly task: string | null
  readonly phase: string | null
  readonly own: UsageSum
  readonly total: UsageSum
  /** The agent's limits, and the usage of itself, its children and late answers; null: unknown. */
  readonly budget: BudgetRow | null
  /** Requested tool calls, of the agent itself and including all of its descendants. */
  readonly ownCalls: number
  readonly totalCalls: number
  /** Quality gates whose last check failed. Empty while the agent works. */
  readonly unmetGates: readonly string[]
  /** The parent has continued without this agent, and knows no end of it. */
  readonly unreached: boolean
  readonly children: readonly AgentTreeNode[]
}

export interface RunShown extends RunSummary {
  /** Usually one root. If a parent's stream is parked at its first event, its children are listed next to the root. */
  readonly tree: readonly AgentTreeNode[]
  readonly gates: readonly Row<'gate_checks'>[]
  readonly standing_approvals: readonly Row<'standing_approvals'>[]
  /** A person or a limit has requested the end of the run. */
  readonly cancelling: boolean
  /** A running restore of files, or one whose process was lost; null: none. */
  readonly restoring: Pick<Row<'restores'>, 'step' | 'tree' | 'replaces'> | null
  /** The start asked for any available driver. */
  readonly driveRequested: boolean
  /** The root agent's session, if it is an external agent; null: not known. */
  readonly sessionId: string | null
  /** The runs that continue the session of this run, oldest first. */
  readonly continuedBy: readonly string[]
  /** One of them works or has named the session. */
  readonly isContinued: boolean
  /** The first input of the root agent was erased, and with it the request of an external run. */
  readonly isRequestErased: boolean
}

/** A run with the tree of its agents, or null. */
export async function showRun(db: Kysely<Database>, runId: string): Promise<RunShown | null> {
  const row = await db.selectFrom('runs').selectAll().where('id', '=', runId).executeTakeFirst()
  if (!row) return null
  const [summary] = await summaries(db, [row])
  const of = <T extends 'gate_checks' | 'standing_approvals'>(table: T) =>
    db
      .selectFrom(table as 'gate_checks')
      .selectAll()
      .where('agent_id', 'in', (inner) => inner.selectFrom('agents').select('id').where('run_id', '=', runId))
      .orderBy('agent_id')
      .orderBy('revision')
      .execute() as Promise<Row<T>[]>
  const tree = await agentTree(db, runId)
  const root = await db
    .selectFrom('agents')
    .select(['cancel_requested_at', 'drive_requested', 'session_id'])
    .where('id', '=', runId)
    .executeTakeFirst()
  const cancelling = root !== undefined && root.cancel_requested_at !== null
  const [gates, standing_approvals] = [await of('gate_checks'), await of('standing_approvals')]
  const restoring = await db
    .selectFrom('restores')
    .select(['step', 'tree', 'replaces'])
    .where('agent_id', '=', runId)
    .where('outcome', 'is', null)
    .orderBy('revision', 'desc')
    .executeTakeFirst()
  const later = await db
    .selectFrom('runs as r')
    .leftJoin('agents as a', 'a.id', 'r.id')
    .select(['r.id', 'r.status', 'a.session_id'])
    .where('r.continues', '=', runId)
    .orderBy('r.started')
    .execute()
  const request = await db
    .selectFrom('inputs')
    .select('erased')
    .where('agent_id', '=', runId)
    .orderBy('revision')
    .executeTakeFirst()
  return {
    ...{ ...summary!, tree, gates, standing_approvals, cancelling, restoring: restoring ?? null },
    driveRequested: root?.drive_requested === 1,
    sessionId: root?.session_id ?? null,
    continuedBy: later.map(({ id }) => id),
    isContinued: later.some((one) => one.status === 'active' || one.session_id !== null),
    isRequestErased: request?.erased === 1,
  }
}

/** The agents of a run, children under their parents; empty for an unknown run. */
export async function agentTree(db: Kysely<Database>, runId: string): Promise<AgentTreeNode[]> {
  const agents = await db.selectFrom('agent_lineage').selectAll().where('run_id', '=', runId).orderBy('id').execute()
  if (agents.length === 0) return []
  const births = await db
    .selectFrom('children')
    .select(['child_id', 'revision', 'unreached', 'ended_revision'])
    .where('run_id', '=', runId)
    .execute()
  const gates = await failedGates(db, runId)
  const books = await db.selectFrom('agent_budgets').selectAll().where('run_id', '=', runId).execute()
  const budgets = new Map(books.map((row) => [row.id, row]))
  const phases = await phasesOf(db, [runId])
  const states = await machineStates(db, [runId])
  const usage = await usageBy(db, 'agent_id', [runId])
  const calls = await callsByAgent(db, [runId])
  const sources = await db.selectFrom('agents').select(['id', 'forked_from']).where('run_id', '=', runId).execute()
  const tasks = await tasksOf(db, await originsOf(db, sources))
  const born = new Map(births.map(({ child_id, revision }) => [child_id, revision]))
  const left = new Set(births.filter((one) => one.unreached && one.ended_revision === null).map((one) => one.child_id))
  const inOrder = agents.sort((a, b) => (born.get(a.id) ?? -1) - (born.get(b.id) ?? -1))
  const known = new Set(agents.map((agent) => agent.id))
  const parentOf = ({ parent_agent_id: parent }: LineageRow) => (parent && known.has(parent) ? parent : null)
  const childrenOf = Map.groupBy(inOrder, parentOf)
  const node = (agent: LineageRow): AgentTreeNode => {
    const children = (childrenOf.get(agent.id) ?? []).map(node)
    const own = usage.get(agent.id) ?? NO_USAGE
    const total = children.reduce((sum, child) => addUsage(sum, child.total), own)
    const ownCalls = calls.get(agent.id)?.calls ?? 0
    const totalCalls = children.reduce((sum, child) => sum + child.totalCalls, ownCalls)
    const status = states.get(agent.id) ?? { machineState: 'IDLE', paused: false }
    const budget = budgets.get(agent.id) ?? null
    const [phase, unreached] = [phases.get(agent.id) ?? null, left.has(agent.id)]
    const unmetGates = agent.completed_at === null ? [] : (gates.get(agent.id) ?? [])
    const task = tasks.get(agent.id) ?? null
    return { agent, ...status, task, phase, own, total, budget, ownCalls, totalCalls, unmetGates, unreached, children }
  }
  return (childrenOf.get(null) ?? []).map(node)
}

/** The gates whose last check failed, by agent, in the order of their checks. */
async function failedGates(db: Kysely<Database>, runId: string): Promise<Map<string, string[]>> {
  const checks = await db
    .selectFrom('gate_checks as g')
    .innerJoin('agents as a', 'a.id', 'g.agent_id')
    .select(['g.agent_id', 'g.gate', 'g.passed'])
    .where('a.run_id', '=', runId)
    .where('g.gate', 'is not', null)
    .orderBy('g.agent_id')
    .orderBy('g.revision')
    .execute()
  const failed = new Map<string, string[]>()
  for (const { agent_id, gate, passed } of checks) {
    const others = (failed.get(agent_id) ?? []).filter((one) => one !== gate)
    failed.set(agent_id, passed === 0 ? [...others, gate!] : others)
  }
  return failed
}

/** The tree of a run, with the reasons why its agents wait. For a fork also the children that ended before it. */
export const showTree = async (db: Kysely<Database>, runId: string) => ({
  tree: await agentTree(db, runId),
  waiting: (await waitingOf(db, [runId])).get(runId) ?? [],
  recorded: await recordedChildren(db, runId),
})

/** The last folded revision of each of a run's agents, the root first. */
export async function agentHeads(db: Kysely<Database>, runId: string): Promise<{ id: string; revision: number }[]> {
  return db
    .selectFrom('agents')
    .select(['id', 'revision'])
    .where('run_id', '=', runId)
    .orderBy('depth')
    .orderBy('id')
    .execute()
}
