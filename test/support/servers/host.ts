import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { SqliteSnapshots } from '../../../adapters/sqlite/snapshots.ts'
import { openVault } from '../../../adapters/vault/file-vault.ts'
import { openWorkspace } from '../../../adapters/workspace/open.ts'
import { ensureToken } from '../../../api/http/token.ts'
import { systemRandom } from '../../../api/process/host/random.ts'

// One of several processes that start in one data folder at the same time: host.ts DATA WORKSPACE NAME. Prints its
// results.

const SQLITE_BUSY = 5

const [, , data = '', workspace = '', name = ''] = process.argv
console.log('ready')
await once(process.stdin, 'data')
const [vault, token] = await Promise.all([
  openVault({ dataFolder: data, env: {} }),
  ensureToken(data, (n) => systemRandom.bytes(n)),
])
const snapshots = SqliteSnapshots.open(join(data, 'snapshots.db'), (path) => rmSync(path, { force: true }))
const { versions } = await openWorkspace(workspace, { dataFolder: data })
const tree = await versions.snapshot()
for (let n = 0; n < 5; n++) {
  await vault.set(`${name}_${n}`, `a-secret-value-${name}-${n}`)
  await vault.remember(new Map([[`secret:ku_${name}${n}`.padEnd(36, '0'), `remembered ${name} ${n}`]]))
  await kept(() => snapshots.put(`${name}${n}`, 1, { revision: 1, step: 1, state: { name } }))
}
snapshots.close()
console.log(JSON.stringify({ token, tree, key: Buffer.from(await vault.referenceKey()).toString('hex') }))
process.stdin.destroy()

/** A reader waits only briefly for a locked cache. Retry here, because a starved process may keep the lock. */
async function kept(put: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await put()
    } catch (error) {
      if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error
    }
  }
}
