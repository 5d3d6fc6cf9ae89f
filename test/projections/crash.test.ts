import { join } from 'node:path'
import { openSqliteStore } from '../../projections/engine/store/sqlite.ts'
import { killedContract } from '../contracts/projections/killed.ts'
import { tempFolder } from '../support/folders.ts'
import { dumpFile, sqliteKit } from '../support/projections/kit.ts'

killedContract(sqliteKit, async () => {
  const file = join(tempFolder(), 'killed.db')
  return { tables: { open: () => openSqliteStore(file), dump: async () => dumpFile(file) }, where: [file] }
})
