import { join } from 'node:path'
import { vaultMark } from '../../../adapters/vault/mark.ts'

/** The paths in a data folder. Tables and snapshots can be deleted, because keepup rebuilds them from the log. */
export const paths = (data: string) => ({
  log: join(data, 'log'),
  /** The log of an incomplete backup. */
  halfLog: join(data, 'log.partial'),
  blobs: join(data, 'blobs'),
  intents: join(data, 'blobs', 'intents'),
  /** The tree of the log and its signed heads. */
  tree: join(data, 'tree.db'),
  /** The secret keys that sign the heads. Backups do not contain them. */
  logKey: join(data, 'log.key'),
  /** The secret keys that cosign heads of other logs. Backups do not contain them. */
  witnessKey: join(data, 'witness.key'),
  tables: join(data, 'tables'),
  snapshots: join(data, 'snapshots.db'),
  requestCache: join(data, 'request-cache.db'),
  /** Positions of consumers of the log. Backups do not contain them. */
  positions: join(data, 'positions.db'),
  vault: join(data, 'vault'),
  vaultMark: vaultMark(data),
  versions: join(data, 'versions.git'),
  /** Copies of plans for people. keepup rebuilds them from the log. */
  plans: join(data, 'plans'),
  backups: join(data, 'backups.jsonl'),
})
