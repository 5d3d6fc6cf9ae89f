import { join } from 'node:path'
import { vaultMark } from '../../../adapters/vault/mark.ts'

/** Where things lie in a data folder. The tables and snapshots can be deleted: they come back from the log. */
export const paths = (data: string) => ({
  log: join(data, 'log'),
  /** The log of a backup that has not ended. */
  halfLog: join(data, 'log.partial'),
  blobs: join(data, 'blobs'),
  intents: join(data, 'blobs', 'intents'),
  tables: join(data, 'tables'),
  snapshots: join(data, 'snapshots.db'),
  requestCache: join(data, 'request-cache.db'),
  vault: join(data, 'vault'),
  vaultMark: vaultMark(data),
  versions: join(data, 'versions.git'),
  /** Copies of plans for people; they come back from the log. */
  plans: join(data, 'plans'),
  backups: join(data, 'backups.jsonl'),
})
