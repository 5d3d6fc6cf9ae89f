import { mkdirSync } from 'node:fs'
import { FileBlobs } from '../../adapters/files/blobs/store.ts'
import { openSqliteLog } from '../../adapters/sqlite/log/open.ts'
import { SystemClock } from '../../api/process/host/clock.ts'
import { paths } from '../../api/process/host/paths.ts'
import { systemRandom } from '../../api/process/host/random.ts'
import { canonicalBytes } from '../../domain/log/canonical.ts'
import type { Header, SealedEvent } from '../../domain/log/envelope.ts'
import { GENESIS, saltBody, seal } from '../../domain/log/seal.ts'
import { openSigner } from './embedded.ts'

const APPEND = 500
const HEAD = 1_000

/** Writes a log of small events with a head for every thousandth one. */
export async function writeSignedLog(data: string, count: number): Promise<void> {
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
