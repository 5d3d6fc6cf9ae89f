import { MemoryBlobs } from '../../../adapters/memory/blobs.ts'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { MemoryPositions } from '../../../adapters/memory/positions.ts'
import { MemoryLimiter } from '../../../adapters/memory/rate-limiter.ts'
import { MemorySnapshots } from '../../../adapters/memory/snapshots.ts'
import { MemoryVault } from '../../../adapters/memory/vault.ts'
import { MemoryHome, Projections } from '../../../projections/index.ts'
import { onStderr } from '../../operations/notices.ts'
import { Problem } from '../../operations/problem.ts'
import type { Services } from '../../operations/services.ts'
import type { Config } from '../config/settings.ts'
import { SystemClock } from '../host/clock.ts'
import { compose } from '../host/compose.ts'
import { LossGate } from '../host/losses/loss-gate.ts'
import { Opened, type Own, openHost } from '../host/open-host.ts'
import { systemRandom } from '../host/random.ts'

/** Opens everything in memory, for tests. Nothing is written, and nothing outlives `close`. */
export async function openMemory(config: Config, own: Own = {}): Promise<Services> {
  const { tell = onStderr } = own
  const clock = new SystemClock()
  const random = systemRandom
  const log = new MemoryLog({ clock, random })
  const blobs = new MemoryBlobs()
  const opened = new Opened()
  opened.push(() => log.close())
  try {
    const stores = { vault: new MemoryVault({ random, env: process.env }), snapshots: new MemorySnapshots() }
    const host = await openHost(config, own, opened, tell, { stores })
    const tables = await Projections.open({ home: new MemoryHome(), log, blobs })
    opened.push(() => tables.close())
    const end = new AbortController()
    const following = tables.run(end.signal)
    following.catch((error: Error) => tell(`the tables: ${error.message}`))
    opened.push(async () => {
      end.abort()
      await following.catch(() => undefined)
    })
    const gate = new LossGate(log, null)
    return compose(host, {
      ...{ log, blobs, clock, tables },
      limiter: new MemoryLimiter(clock, (model) => host.models.limit(model)),
      losses: {
        ...{ log, gate, tree: null, mark: null, read: (query) => tables.read(query) },
        accepting: (record) => record(),
        followed: async () => {},
      },
      backup: () => Promise.reject(noFile('a backup')),
      sizes: async () => new Map(),
      positions: new MemoryPositions(),
      close: () => opened.closeAll(),
    })
  } catch (error) {
    await opened.closeAll()
    throw error
  }
}

const noFile = (what: string) =>
  new Problem('INVALID_REQUEST', `${what} needs a data folder; open keepup with one instead of home: 'memory'`)
