import { join } from 'node:path'

/** Where things lie in a data folder. The tables and snapshots can be deleted: they come back from the log. */
export const paths = (data: string) => ({
  log: join(data, 'log'),
  blobs: join(data, 'blobs'),
  tables: join(data, 'tables'),
  snapshots: join(data, 'snapshots.db'),
  vault: join(data, 'vault'),
  versions: join(data, 'versions.git'),
})
