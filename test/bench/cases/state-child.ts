import { rmSync } from 'node:fs'
import { FileBlobs } from '../../../adapters/files/blobs/store.ts'
import { unpackBody } from '../../../adapters/sqlite/log/body.ts'
import { fileOf } from '../../../adapters/sqlite/log/connection.ts'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import { SqliteSnapshots } from '../../../adapters/sqlite/snapshots.ts'
import { paths } from '../../../api/process/host/paths.ts'
import { KeptPoints } from '../../../domain/agent/runtime/history/kept-points.ts'
import { agentAt, agentStateAt } from '../../../domain/agent/runtime/history/replay.ts'
import { SALT_BYTES, unsalted } from '../../../domain/log/seal.ts'
import { appendsAfter } from '../floor/writer.ts'
import { median } from '../measure.ts'
import type { Cold } from './state.ts'

const [, , data = '', agentId = '', step = '1'] = process.argv
const at = paths(data)
const point = { step: Number(step) }

const cold = clock()
const log = await openSqliteLog({ folder: at.log, mode: 'reader' })
const snapshots = SqliteSnapshots.open(at.snapshots, (path) => rmSync(path, { force: true }))
const stores = { log, blobs: new FileBlobs(at.blobs), snapshots }
const { state } = await agentStateAt(stores, agentId, point)
const stateMs = cold()
if (state.step !== point.step) throw new Error(`asked for step ${step}, got ${state.step}`)

const whole = clock()
const kept = new KeptPoints(log)
const { messages, head } = await agentAt(stores, agentId, point, kept)
const wholeMs = whole()
const againMs = await repeated(() => point.step)
const nearMs = await repeated((n) => point.step + 2 * n)
const earlyMs = await repeated(() => 20)
if (messages.length < point.step / 2 - 2) throw new Error(`only ${messages.length} messages at step ${step}`)
await log.close()
snapshots.close()

const sizes = new Map<number, number>()
const bodies: Buffer[] = []
for (const { events, bodies: stored } of appendsAfter(fileOf(at.log), 0).appends) {
  for (const event of events) sizes.set(Number(event[0]), Number(event[2]) <= head.revision ? Number(event[7]) : 0)
  for (const [position, packed, bytes] of stored) {
    const size = sizes.get(Number(position)) ?? 0
    if (size > 0) bodies.push(Buffer.from(unsalted(unpackBody(bytes as Uint8Array, Number(packed), SALT_BYTES + size))))
  }
}
const parsing = clock()
let parsed = 0
for (const body of bodies) parsed += typeof JSON.parse(body.toString('utf8')) === 'object' ? body.length : 0
const floorMs = parsing()
process.stdout.write(
  JSON.stringify({ stateMs, wholeMs, againMs, nearMs, earlyMs, floorMs, bytes: parsed } satisfies Cold),
)

/** The middle of some more questions: a person who goes through a run asks one after the other. */
async function repeated(stepOf: (n: number) => number): Promise<number> {
  const took: number[] = []
  for (let n = 1; n <= 9; n++) {
    const one = clock()
    await agentAt(stores, agentId, { step: stepOf(n) }, kept)
    took.push(one())
  }
  return median(took)
}

/** CPU of the main thread since the call, ms: what else the machine does is not told. */
function clock(): () => number {
  const cpu = process.threadCpuUsage()
  return () => {
    const { user, system } = process.threadCpuUsage(cpu)
    return (user + system) / 1000
  }
}
