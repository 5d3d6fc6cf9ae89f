import type { Kysely } from 'kysely'
import type { BudgetRow, Database, LineageRow } from '../../engine/schema/database.ts'
import type { Row } from '../../engine/schema/tables.ts'
import { type AgentStatus, machineStates } from './machine-state.ts'
import { phasesOf } from './phases.ts'
import { recordedChildren } from './recorded-children.ts'
import { callsOf, type RunSummary, summaries } from './runs.ts'
import { NOTHING, plus, type UsageSum, usageBy } from './usage.ts'
import { waitingOf } from './waiting.ts'

/** An agent in its run's tree. `own`: what it used itself; `total`: with all that descend from it. */
export interface AgentNode extends AgentStatus {
  readonly agent: LineageRow
  readonly phase: string | null
  readonly own: UsageSum
  readonly total: UsageSum
  /** Its limits, and the use of it, its children and late answers; null: they are not known. */
  readonly budget: BudgetRow | null
  /** Requested tool calls, its own and with all that descend from it. */
  readonly ownCalls: number
  readonly totalCalls: number
  /** Its parent has gone on without it, and knows of no end. */
  readonly unreached: boolean
  readonly children: readonly AgentNode[]
}

export interface RunShown extends RunSummary {
  /** Usually one; an agent whose parent's stream is parked at its first event is listed beside the root. */
  readonly tree: readonly AgentNode[]
  readonly gates: readonly Row<'gate_checks'>[]
  readonly standing_approvals: readonly Row<'standing_approvals'>[]
  /** A person or a limit has asked for its end. */
  readonly cancelling: boolean
  /** The files are being put back, or its process was lost on the way; null: neither. */
  readonly restoring: Pick<Row<'restores'>, 'step' | 'tree' | 'replaces'> | null
  /** Its start asked for any driver there is. */
  readonly driveRequested: boolean
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
      .execute() as unknown as Promise<Row<T>[]>
  const tree = await treeOf(db, runId)
  const root = await db
    .selectFrom('agents')
    .select(['cancel_requested_at', 'drive_requested'])
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
  const driveRequested = root?.drive_requested === 1
  return { ...summary!, tree, gates, standing_approvals, cancelling, driveRequested, restoring: restoring ?? null }
}

/** The agents of a run, children under their parents; empty where there is no such run. */
export async function treeOf(db: Kysely<Database>, runId: string): Promise<AgentNode[]> {
  const agents = await db.selectFrom('agent_lineage').selectAll().where('run_id', '=', runId).orderBy('id').execute()
  const births = await db
    .selectFrom('children')
    .select(['child_id', 'revision', 'unreached', 'ended_revision'])
    .where('run_id', '=', runId)
    .execute()
  const books = await db.selectFrom('agent_budgets').selectAll().where('run_id', '=', runId).execute()
  const budgets = new Map(books.map((row) => [row.id, row]))
  const phases = await phasesOf(db, [runId])
  const states = await machineStates(db, [runId])
  const usage = await usageBy(db, 'agent_id', [runId])
  const calls = await callsOf(db, [runId])
  const born = new Map(births.map(({ child_id, revision }) => [child_id, revision]))
  const left = new Set(births.filter((one) => one.unreached && one.ended_revision === null).map((one) => one.child_id))
  const inOrder = agents.sort((a, b) => (born.get(a.id) ?? -1) - (born.get(b.id) ?? -1))
  const known = new Set(agents.map((agent) => agent.id))
  const parentOf = ({ parent_agent_id: parent }: LineageRow) => (parent && known.has(parent) ? parent : null)
  const childrenOf = Map.groupBy(inOrder, parentOf)
  const node = (agent: LineageRow): AgentNode => {
    const children = (childrenOf.get(agent.id) ?? []).map(node)
    const own = usage.get(agent.id) ?? NOTHING
    const total = children.reduce((sum, child) => plus(sum, child.total), own)
    const ownCalls = calls.get(agent.id)?.calls ?? 0
    const totalCalls = children.reduce((sum, child) => sum + child.totalCalls, ownCalls)
    const status = states.get(agent.id) ?? { machineState: 'IDLE', paused: false }
    const budget = budgets.get(agent.id) ?? null
    const [phase, unreached] = [phases.get(agent.id) ?? null, left.has(agent.id)]
    return { agent, ...status, phase, own, total, budget, ownCalls, totalCalls, unreached, children }
  }
  return (childrenOf.get(null) ?? []).map(node)
}

/** The tree of a run, with what its agents wait for; of a fork also the children that its source had before. */
export const showTree = async (db: Kysely<Database>, runId: string) => ({
  tree: await treeOf(db, runId),
  waiting: (await waitingOf(db, [runId])).get(runId) ?? [],
  recorded: await recordedChildren(db, runId),
})

/** The last revision that was folded of each of a run's agents, the root first. */
export async function agentHeads(db: Kysely<Database>, runId: string): Promise<{ id: string; revision: number }[]> {
  return db
    .selectFrom('agents')
    .select(['id', 'revision'])
    .where('run_id', '=', runId)
    .orderBy('depth')
    .orderBy('id')
    .execute()
}
