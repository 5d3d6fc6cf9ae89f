import { existsSync, mkdirSync } from 'node:fs'
import { FileBlobs } from '../../../adapters/files/blobs/store.ts'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import { SqliteTreeStore } from '../../../adapters/sqlite/tree-store.ts'
import { SystemClock } from '../../../api/process/host/clock.ts'
import { paths } from '../../../api/process/host/paths.ts'
import { systemRandom } from '../../../api/process/host/random.ts'
import { canonicalBytes } from '../../../domain/log/canonical.ts'
import type { Header, SealedEvent } from '../../../domain/log/envelope.ts'
import { GENESIS, saltBody, seal } from '../../../domain/log/seal.ts'
import { verifyHeads } from '../../../domain/proof/runtime/verify-heads.ts'
import { inFreshProcess } from '../child.ts'
import { openSigner } from '../embedded.ts'

// Writes a log with a head for every thousandth event in one process, and verifies it in another. Prints the most memory
// that the second one had.

const APPEND = 500
const HEAD = 1_000

async function write(data: string, count: number): Promise<void> {
  mkdirSync(data, { recursive: true, mode: 0o700 })
  const at = paths(data)
  const log = await openSqliteLog({ folder: at.log, mode: 'owner', clock: new SystemClock(), random: systemRandom })
  const signer = openSigner(data, log, new FileBlobs(at.blobs))
  let hash = GENESIS
  let revision = -1
  while (revision + 1 < count) {
    const batch: SealedEvent[] = []
    for (let n = 0; n < APPEND; n++) {
      revision += 1
      const { bytes, header: body } = saltBody(canonicalBytes({ n: revision }), systemRandom.bytes(16))
      const timestamp = new Date().toISOString()
      const actor = { kind: 'system', id: 'bench' } as const
      const own = { format: 1, stream: 'agent-a', type: 'noted', version: 1, runId: 'a', agentId: 'a' } as const
      const header: Header = { ...own, turn: 0, revision, timestamp, commandId: `c${revision}`, actor, body }
      const event = seal(hash, header, bytes)
      hash = event.hash
      batch.push(event)
    }
    await log.append('agent-a', revision - APPEND, batch)
    if ((revision + 1) % HEAD === 0) await signer.sign()
  }
  await signer.close()
  await log.close()
}

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
  if (!existsSync(data)) await write(data, Number(events))
  const self = new URL(import.meta.url)
  process.stdout.write(JSON.stringify(await inFreshProcess(self, [data, events, 'verify'])))
}
