import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openToWrite } from '../../../adapters/sqlite/log/connection.ts'
import { paths } from '../../../api/process/host/paths.ts'
import { liveFile } from '../../../projections/engine/store/pointer.ts'
import { openEmbedded } from '../embedded.ts'
import { contend } from './contender.ts'

// keepup as it is embedded by default: log, tables, snapshots, redaction and signed heads.

await contend(async ({ folder }) => {
  const data = join(folder, 'data')
  const embedded = await openEmbedded(data)
  const ask = (db: DatabaseSync, sql: string): unknown => {
    const [row] = db.prepare(sql).all()
    db.close()
    return Object.values(row!)[0]
  }
  return {
    run: async (turns) => void (await embedded.run(turns)),
    settled: () => embedded.shown(),
    results: async () =>
      Number(
        ask(
          new DatabaseSync(liveFile(paths(data).tables)!, { readOnly: true }),
          "SELECT count(*) FROM tool_calls WHERE tool_name = 'read_file' AND status = 'succeeded'",
        ),
      ),
    durability: async () => `synchronous ${ask(openToWrite(paths(data).log), 'PRAGMA synchronous')}`,
    close: () => embedded.close(),
  }
})
