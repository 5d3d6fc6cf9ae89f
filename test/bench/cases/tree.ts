import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import { liveFile } from '../../../projections/engine/store/pointer.ts'
import { costBy, Projections, showTree } from '../../../projections/index.ts'
import { MemoryBlobs } from '../../support/harness.ts'
import { type Plan, treeSpec } from '../../support/tree/plans.ts'
import { Recorded } from '../../support/tree/recorded.ts'
import { play, ROOT } from '../../support/tree/walk.ts'
import type { Bench, Case } from '../bench.ts'
import { most, ms } from '../figure.ts'
import { paired } from '../measure.ts'

// The tree, the tables and the bill of a run with 100 agents, beside a bare read of the rows that they are made of.

const leaf: Plan = { rounds: [{ children: [], looks: 1 }], ends: 'completes' }
const middle: Plan = { rounds: [{ children: Array.from({ length: 10 }, () => leaf), looks: 0 }], ends: 'completes' }
const plan: Plan = { rounds: [{ children: Array.from({ length: 9 }, () => middle), looks: 0 }], ends: 'completes' }

const ROWS = ['agents', 'model_calls', 'tool_calls', 'children', 'budget_changes', 'phases', 'approvals']

export const tree: Case = {
  name: 'tree',
  async run(bench: Bench) {
    const folder = join(bench.folder, 'tree')
    const recorded = new Recorded({ startsAt: Date.now() + 60_000 })
    play(plan, treeSpec(), [], undefined, {}, recorded)
    const log = await openSqliteLog({ folder: join(folder, 'log'), mode: 'owner' })
    await recorded.into(log)
    const projections = await Projections.open({ folder: join(folder, 'tables'), log, blobs: new MemoryBlobs() })
    await projections.caughtUpTo(await log.headCursor(), AbortSignal.timeout(60_000))
    const shown = () =>
      projections.read(async (db) => {
        const [root] = (await showTree(db, ROOT)).tree
        const lineage = await db.selectFrom('agent_lineage').selectAll().where('run_id', '=', ROOT).execute()
        const totals = await db.selectFrom('agent_lineage_totals').selectAll().where('run_id', '=', ROOT).execute()
        const bill = await costBy(db, 'role', { runId: ROOT })
        return { root, agents: lineage.length, totals: totals.length, bill }
      })
    const { root, agents, totals } = (await shown()).data
    if (agents !== 100 || totals !== 100 || root?.children.length !== 9)
      throw new Error(`the tree has ${agents} agents and ${totals} totals, expected 100`)
    const file = new DatabaseSync(liveFile(join(folder, 'tables'))!, { readOnly: true })
    const selects = ROWS.map((table) => file.prepare(`select * from ${table}`))
    const pairs = await paired(bench.rounds, shown, () => {
      for (const select of selects) select.all()
    })
    file.close()
    await projections.close()
    await log.close()
    const { ours, floor } = pairs.of('ms')
    const name = 'tree, tables and bill of 100 agents'
    return [
      {
        name,
        ours: ms(ours),
        floor: ms(floor),
        value: ours,
        goal: most(50, ' ms'),
        note: 'floor: bare read of the rows',
      },
    ]
  },
}
