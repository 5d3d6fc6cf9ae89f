import { writeSync } from 'node:fs'
import { join } from 'node:path'
import { FileBlobs } from '../../../adapters/files/blobs/store.ts'
import { PlanFiles } from '../../../adapters/files/plan-files.ts'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import { SqliteSnapshots } from '../../../adapters/sqlite/snapshots.ts'
import { sha256 } from '../../../domain/log/ids.ts'
import { bytesOf, erasedBody, NEW, Sealer, tipOf } from '../log/sealing.ts'
import { LocalLog } from './local-log.ts'
import { blobOf, RUN, stateOf } from './part-facts.ts'

// A process that writes one part of a data folder, and prints each acknowledged fact. `writeSync` puts the line before any
// later system call.

const [, , task = '', folder = '', count = '0'] = process.argv
const say = (line: string) => writeSync(1, `${line}\n`)
const MIB = 1024 * 1024
/** The sizes from which the checkpoints of the writer move the log, when no append waits and when one waits. */
const [SOFT, HARD] = [4 * MIB, 64 * MIB]

/** Appends through the writer's thread. */
async function appends(times: number): Promise<void> {
  const log = await openSqliteLog({ folder, mode: 'owner' })
  const sealer = new Sealer('appends')
  sealer.ms = log.floor() - Date.parse('2026-01-01T00:00:00.000Z') + 1
  let tip = NEW
  for (let n = 0; n < times; n++) {
    const batch = sealer.batch('agent-w', tip, [{ body: { n, text: 'x'.repeat(200) } }, { body: { n } }])
    const { position } = await log.append('agent-w', tip.revision, batch)
    tip = tipOf(batch)
    say(`ack ${position} ${tip.hash}`)
  }
  await log.close()
}

/** Appends with a checkpoint after each: passive, restarting, emptying after an erasure, or none. */
function checkpoints(times: number): void {
  const log = LocalLog.open(folder, say)
  const sealer = new Sealer('checkpoints')
  let tip = NEW
  for (let n = 0; n < times; n++) {
    const text = Buffer.from(bytesOf(`${n}`, 1500)).toString('base64')
    const written = sealer.batch('agent-c', tip, [{ body: { n, text } }, { body: { n } }])
    let position = log.append('agent-c', tip.revision, written)
    tip = tipOf(written)
    const erases = n % 4 === 2
    if (erases) {
      const fact = sealer.batch('agent-c', tip, [{ type: 'erased', body: erasedBody(written[0]!) }])
      position = log.append('agent-c', tip.revision, fact)
      tip = tipOf(fact)
    }
    log.checkpoints.committed([SOFT, HARD, 0, 0][n % 4]!, 3, erases, n % 4 !== 1)
    say(`ack ${position} ${tip.hash}`)
  }
  log.close()
}

/** Puts folded states, and clears them in between, as an erasure does. */
async function snapshots(times: number): Promise<void> {
  const store = SqliteSnapshots.open(join(folder, 'snapshots.db'), () => undefined)
  for (let n = 0; n < times; n++) {
    await store.put(`agent-${n % 3}`, 1, { revision: n, step: n, state: stateOf(n) })
    if (n % 8 === 5) await store.clear()
  }
  store.close()
}

/** Writes two plans of a run again and again. */
async function plans(times: number): Promise<void> {
  const files = new PlanFiles(join(folder, 'plans'))
  for (let n = 0; n < times; n++) {
    await files.write(RUN, `plan-${n % 2}`, stateOf(n).text)
    say(`plan plan-${n % 2} ${n}`)
  }
}

/** Puts blobs, puts every second one again, and deletes every third one. */
async function blobs(times: number): Promise<void> {
  const store = new FileBlobs(join(folder, 'blobs'))
  for (let n = 0; n < times; n++) {
    const bytes = blobOf(n)
    const hash = sha256(bytes)
    for (let again = n % 2; again >= 0; again--) await store.put(RUN, hash, bytes)
    say(`blob ${n}`)
    if (n % 3 !== 2) continue
    await store.delete(RUN, hash)
    say(`deleted ${n}`)
  }
}

const TASKS: Readonly<Record<string, (times: number) => Promise<void> | void>> = {
  appends,
  checkpoints,
  snapshots,
  plans,
  blobs,
}
const perform = TASKS[task]
if (perform === undefined) throw new Error(`there is no task ${task}`)
await perform(Number(count))
