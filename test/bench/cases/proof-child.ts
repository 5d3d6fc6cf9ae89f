import { existsSync } from 'node:fs'
import { FileBlobs } from '../../../adapters/files/blobs/store.ts'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import { SqliteTreeStore } from '../../../adapters/sqlite/tree-store.ts'
import { paths } from '../../../api/process/host/paths.ts'
import { verifyHeads } from '../../../domain/proof/runtime/verify-heads.ts'
import { inFreshProcess } from '../child.ts'
import { writeSignedLog } from '../signed-log.ts'

// Writes a log with a head for every thousandth event in one process, and verifies it in another. Prints the most memory
// that the second one had.

async function verify(data: string): Promise<number> {
  const at = paths(data)
  const log = await openSqliteLog({ folder: at.log, mode: 'reader' })
  const store = new SqliteTreeStore(at.tree, 'reader', (...range) => log.hashes(...range))
  const verified = await verifyHeads({ log, blobs: new FileBlobs(at.blobs), store, acceptedLosses: [] })
  if (!verified.ok || verified.heads === 0) throw new Error(`the heads do not verify: ${JSON.stringify(verified)}`)
  await log.close()
  store.close()
  return process.resourceUsage().maxRSS * 1024
}

const [, , data = '', events = '', only = ''] = process.argv
if (only === 'verify') process.stdout.write(JSON.stringify({ bytes: await verify(data) }))
else {
  if (!existsSync(data)) await writeSignedLog(data, Number(events))
  const self = new URL(import.meta.url)
  process.stdout.write(JSON.stringify(await inFreshProcess(self, [data, events, 'verify'])))
}
