import { readdirSync, readFileSync } from 'node:fs'
import { DBOS } from '@dbos-inc/dbos-sdk'
import pg from 'pg'
import { answerOf } from '../../text.ts'
import { contend, nextResult } from '../contender.ts'

// A workflow of DBOS whose steps are the model and the tool, in PostgreSQL.

const work = DBOS.registerWorkflow(
  async (turns: number) => {
    for (let turn = 1; turn <= turns; turn++) {
      await DBOS.runStep(async () => answerOf(turn, turn === turns), { name: 'model' })
      if (turn < turns) await DBOS.runStep(async () => ({ content: nextResult() }), { name: 'tool' })
    }
  },
  { name: 'run' },
)

await contend(async ({ postgres }) => {
  const { url, pid } = postgres!
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl: url, logLevel: 'error' })
  await DBOS.launch()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const one = async (sql: string) => Object.values((await client.query(sql)).rows[0] as object)[0] as string
  return {
    run: (turns) => work(turns),
    results: async () => Number(await one("SELECT count(*) FROM dbos.operation_outputs WHERE function_name = 'tool'")),
    durability: async () =>
      `fsync ${await one('SHOW fsync')}, synchronous_commit ${await one('SHOW synchronous_commit')}`,
    ...(process.platform === 'linux' && { serverCpuMs: () => cpuMsOf(pid) }),
    storedBytes: async () =>
      Number(
        await one(
          "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'dbos'::regnamespace",
        ),
      ),
    async close() {
      await client.end()
      await DBOS.shutdown()
    },
  }
})

/** CPU time of a process, of its children, and of the children that have ended. */
function cpuMsOf(pid: number): number {
  // A tick is 10 ms on every Linux that Node runs on.
  const ticks = 10
  let sum = 0
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    let stat: string
    try {
      stat = readFileSync(`/proc/${entry}/stat`, 'utf8')
    } catch {
      continue // It has just ended.
    }
    // The name in brackets may hold spaces. After it: state, parent, …, utime, stime, cutime, cstime.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const own = Number(fields[11]) + Number(fields[12])
    if (Number(entry) === pid) sum += own + Number(fields[13]) + Number(fields[14])
    else if (Number(fields[1]) === pid) sum += own
  }
  return sum * ticks
}
