import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { FileBlobs } from '../../../adapters/files/blobs/store.ts'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import { paths } from '../../../api/process/host/paths.ts'
import { liveFile } from '../../../projections/engine/store/pointer.ts'
import { keepup, type Place } from '../faults/cli.ts'
import { appendAgain } from '../golden/recording.ts'
import { BEFORE } from '../log/sealing.ts'
import { homeOf } from './scenario.ts'

/** A recorded run. */
const HISTORY = join(import.meta.dirname, '../../golden/coder.1.jsonl')

/** Makes a data folder as an older program left it: a run, tables whose rows have an older meaning, and other snapshots. */
export async function makeOlder(place: Place): Promise<void> {
  const at = paths(place.data)
  const log = await openSqliteLog({ folder: at.log, mode: 'owner', clock: BEFORE })
  await appendAgain(readFileSync(HISTORY, 'utf8'), log, new FileBlobs(at.blobs))
  await log.close()
  const { code, err } = await keepup(place, ['rebuild'], { env: homeOf(place) })
  if (code !== 0) throw new Error(`the older folder cannot be made: ${err}`)
  const tables = new DatabaseSync(liveFile(at.tables)!)
  const version = Number(tables.prepare('pragma user_version').get()!.user_version)
  tables.exec(`pragma user_version = ${version - 1000}`)
  tables.close()
  const snapshots = new DatabaseSync(at.snapshots)
  snapshots.exec('drop table states; create table snapshots(stream text primary key, state blob)')
  snapshots.exec("insert into snapshots values ('agent-old', zeroblob(2000))")
  snapshots.close()
}
