import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BlobStore, EventLog } from '../../../domain/ports/index.ts'
import { foldPast, PastTables } from '../../../projections/index.ts'
import { ProcessAuditor } from '../embedded/sql/process-auditor.ts'

/**
 * Answers SQL questions about past positions of a log on servers. The log is folded into SQLite files in a temporary
 * folder of this process, which `close` removes. `holder`: the random name of this process.
 */
export function pastOnServers({ log, blobs, holder }: { log: EventLog; blobs: BlobStore; holder: string }) {
  const folder = join(tmpdir(), `keepup-past-${holder}`)
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  // Bodies on servers cannot be erased, so a file never has a text that was erased since.
  const past = new PastTables({
    ...{ folder, keeps: true, erasures: async () => 0 },
    fold: foldPast({ log, blobs, keepsEvents: true }),
  })
  const auditor = new ProcessAuditor(folder, past, { keepsEvents: true })
  return {
    ask: auditor.ask.bind(auditor),
    async close(): Promise<void> {
      await auditor.close()
      process.off('exit', remove)
      remove()
    },
  }
}
