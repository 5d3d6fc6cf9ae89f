import { mkdirSync } from 'node:fs'
import { FileBlobs } from '../../../adapters/files/blobs/store.ts'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import { SystemClock } from '../../../api/process/host/clock.ts'
import { paths } from '../../../api/process/host/paths.ts'
import { systemRandom } from '../../../api/process/host/random.ts'
import { canonicalBytes } from '../../../domain/log/canonical.ts'
import { GENESIS, saltBody, seal } from '../../../domain/log/seal.ts'
import { Projections } from '../../../projections/index.ts'
import { openSigner } from '../embedded.ts'

// Writes a data folder with this many changes of variables, 1,000 in each store, with a head for every 10,000th event and
// with tables.

const IN_A_STORE = 1_000
const HEAD = 10_000

const [, , data = '', events = ''] = process.argv
mkdirSync(data, { recursive: true, mode: 0o700 })
const at = paths(data)
const log = await openSqliteLog({ folder: at.log, mode: 'owner', clock: new SystemClock(), random: systemRandom })
const blobs = new FileBlobs(at.blobs)
const signer = openSigner(data, log, blobs)
const changeOf = (stream: string) => {
  let hash = GENESIS
  return (revision: number) => {
    const value = { bytes: 6, key: `k${revision % 10}`, type: 'number', value: 100_000 + revision }
    const { bytes, header: body } = saltBody(canonicalBytes(value), systemRandom.bytes(16))
    const own = {
      format: 1,
      stream,
      type: 'variable_set',
      version: 1,
      turn: 0,
      actor: { kind: 'user', id: 'ann' },
    } as const
    const [timestamp, commandId] = [new Date().toISOString(), `${stream}.${revision}`]
    const event = seal(hash, { ...own, revision, timestamp, commandId, body }, bytes)
    hash = event.hash
    return event
  }
}
for (let written = 0; written < Number(events); written += IN_A_STORE) {
  const stream = `context-s${written / IN_A_STORE}`
  await log.append(stream, -1, Array.from({ length: IN_A_STORE }, (_, revision) => revision).map(changeOf(stream)))
  if ((written + IN_A_STORE) % HEAD === 0) await signer.sign()
}
await signer.close()
const projections = await Projections.open({ folder: at.tables, log, blobs })
const end = new AbortController()
const following = projections.run(end.signal)
await projections.caughtUpTo(await log.headCursor())
end.abort()
await following
await projections.close()
await log.close()
process.stdout.write('null')
