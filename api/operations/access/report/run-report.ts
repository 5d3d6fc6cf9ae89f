import { couldApprove } from '../../../../domain/access/approvers.ts'
import type { Hold } from '../../../../domain/access/keeping.ts'
import { erasedFact } from '../../../../domain/log/erased.ts'
import { streamOfAgent } from '../../../../domain/tree/runtime/stream-of-agent.ts'
import { type Participation, participationsIn, sumsOfUses, withSupports } from '../../../../projections/index.ts'
import { severalApprovers } from '../../approvals/several-approvers.ts'
import { holdView } from '../../keeping/holds.ts'
import { notFound } from '../../problem.ts'
import { agentsOf } from '../../runs/agents-of.ts'
import type { Services } from '../../services.ts'
import { rightsOverTime } from './rights-over-time.ts'
import type { RunReport } from './schemas.ts'

const DAY_MS = 86_400_000

/** Who asked for a run, decided about its calls, read it and erased it, and what keeps it. `call`: only this call. */
export async function reportOfRun(s: Services, runId: string, call?: string): Promise<RunReport> {
  const agents = await agentsOf(s, runId)
  const streams = await Promise.all(agents.map(async (agentId) => (await streamOfAgent(s.log, agentId))!))
  const { value } = await s.read.rows(async (db) => ({
    run: await db.selectFrom('runs').selectAll().where('id', '=', runId).executeTakeFirst(),
    took: await participationsIn(db, runId),
    forks: await db
      .selectFrom('runs')
      .select(['id as run', 'created_by as by', 'created_at as at'])
      .where('forked_from', '=', runId)
      .orderBy('created_at')
      .execute(),
    standing: await db.selectFrom('standing_approvals').selectAll().where('run_id', '=', runId).orderBy('at').execute(),
    reads: await sumsOfUses(db, 'read_audited', { run: runId }),
    refused: await sumsOfUses(db, 'request_refused', { run: runId }),
  }))
  const { run, took, forks, standing, reads, refused } = value
  return {
    ...{ run: runId, participants: summed(took), forks, reads, refused },
    standing: standing.map(({ agent_id: agentId, tools, by, at }) => ({
      ...{ agentId, by, at },
      tools: tools === null ? null : (JSON.parse(tools) as unknown),
    })),
    decisions: await decisionsOf(s, runId, took, call),
    erasures: (await Promise.all(streams.map((stream) => erasuresOf(s, stream)))).flat(),
    holds: (await holdsOn(s, runId, streams)).map(holdView),
    retention: await retentionOf(s, run),
  }
}

/** Participations of one person in one way, counted. */
function summed(took: readonly Participation[]): RunReport['participants'] {
  const groups = Map.groupBy(took, ({ by, how, run }) => JSON.stringify([by, how, run]))
  return [...groups.values()].map((all) => {
    const { by, how, run, at } = all[0]!
    return { by, how, run, count: all.length, first: at, last: all.at(-1)!.at }
  })
}

async function decisionsOf(
  s: Services,
  runId: string,
  took: readonly Participation[],
  call: string | undefined,
): Promise<RunReport['decisions']> {
  const { value: rows } = await s.read.rows(async (db) => {
    const all = db
      .selectFrom('approvals as p')
      .leftJoin('tool_calls as t', (join) =>
        join.onRef('t.agent_id', '=', 'p.agent_id').onRef('t.id', '=', 'p.tool_call_id'),
      )
      .leftJoin('decision_rows as d', (join) =>
        join.onRef('d.agent_id', '=', 'p.agent_id').onRef('d.tool_call_id', '=', 'p.tool_call_id'),
      )
      .selectAll('p')
      .select(['t.rule', 'd.needed'])
      .where('p.run_id', '=', runId)
      .orderBy('p.requested_position')
    const found = await (call === undefined ? all : all.where('p.tool_call_id', '=', call)).execute()
    return withSupports(db, found, (row) => ({
      ...{ agentId: row.agent_id, callId: row.tool_call_id, needed: row.needed, askedAt: row.requested_at },
      decidedBy: row.decided_by,
    }))
  })
  const rights = await rightsOverTime(s)
  const decisions = await Promise.all(
    rows.map(async (row) => {
      const at = row.decided_revision === null ? null : await positionOf(s, row.agent_id, row.decided_revision)
      const until = row.decided_at
      const asked = took.filter((one) => until === null || one.at <= until)
      return {
        ...{ toolCallId: row.tool_call_id, agentId: row.agent_id, toolName: row.tool_name, state: row.status },
        ...{ rule: row.rule, requestedAt: row.requested_at, decidedAt: until, by: row.decided_by },
        ...{ claimed: row.decided_claimed === 1, reason: row.decision_reason, ...severalApprovers(row) },
        could: couldApprove(
          rights.before(at ?? Number.POSITIVE_INFINITY),
          new Set(asked.map(({ by }) => by)),
          row.needed ?? 1,
        ),
      }
    }),
  )
  return call === undefined || decisions.length > 0 ? decisions : [await unasked(s, call)]
}

/** The position of an event of an agent. */
async function positionOf(s: Pick<Services, 'log'>, agentId: string, revision: number): Promise<number | null> {
  const stream = await streamOfAgent(s.log, agentId)
  for await (const [event] of s.log.read(stream!, { from: revision, limit: 1, bodies: false }))
    return event?.position ?? null
  return null
}

/** The decision of a call that needed no approval. */
async function unasked(s: Services, call: string): Promise<RunReport['decisions'][number]> {
  const { value: row } = await s.read.rows((db) =>
    db.selectFrom('tool_calls').selectAll().where('id', '=', call).executeTakeFirst(),
  )
  if (row === undefined) throw notFound('tool call', call, 'an id looks like <agent>.t<turn>.c<index>')
  return {
    ...{ toolCallId: row.id, agentId: row.agent_id, toolName: row.tool_name, state: 'not asked', rule: row.rule },
    ...{ requestedAt: null, decidedAt: row.started_at, by: null, claimed: false, reason: null },
    ...{ needed: 1, supporters: [], could: null },
  }
}

async function erasuresOf({ log }: Pick<Services, 'log'>, stream: string): Promise<RunReport['erasures']> {
  const found: RunReport['erasures'][number][] = []
  for await (const page of log.read(stream, { types: ['erased'] }))
    for (const event of page) {
      const fact = erasedFact(event)
      if (fact === null) continue
      const { revision, timestamp: at, actor } = event.header
      const { code, reason, bodies } = fact
      found.push({ ...{ stream, revision, at, code, reason }, by: `${actor.kind}:${actor.id}`, bodies: bodies.length })
    }
  return found
}

async function holdsOn({ keeping }: Services, run: string, streams: readonly string[]): Promise<readonly Hold[]> {
  const found = new Map<string, Hold>()
  for (const stream of streams)
    for (const hold of await keeping.holding({ stream, run, revisions: [0] })) found.set(hold.id, hold)
  return [...found.values()].sort((a, b) => a.at - b.at)
}

async function retentionOf(
  { keeping }: Services,
  run: { readonly backend: string | null; readonly ended_at: string | null } | undefined,
) {
  const { retention } = await keeping.state()
  const days = retention[run?.backend == null ? 'run' : 'external']?.days ?? null
  const ended = run?.ended_at ?? null
  if (days === null || ended === null) return { days, erasedFrom: null }
  return { days, erasedFrom: new Date(Date.parse(ended) + days * DAY_MS).toISOString() }
}
