import { parentPort, workerData } from 'node:worker_threads'
import { FileBlobs } from '../../../../adapters/files/blobs/store.ts'
import { openSqliteLog } from '../../../../adapters/sqlite/log/open.ts'
import { foldPast } from '../../../../projections/index.ts'
import { type Folded, type FoldWork, failureOf } from './fold-thread.ts'

// The thread of a fold: makes the tables at a past position.

const { log: folder, blobs, file, upTo } = workerData as FoldWork

async function folded(): Promise<Folded> {
  const log = await openSqliteLog({ folder, mode: 'reader', seenLogId: async () => upTo.logId })
  try {
    return { erasedLater: await foldPast({ log, blobs: new FileBlobs(blobs) })(file, upTo) }
  } finally {
    await log.close()
  }
}

parentPort!.postMessage(await folded().catch((error: unknown) => ({ failure: failureOf(error) })))
