import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { FileBlobs } from '../../../adapters/files/blobs/store.ts'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import { SqliteTreeStore } from '../../../adapters/sqlite/tree-store.ts'
import { damage } from '../../../api/cli/verification.ts'
import { proveStream } from '../../../api/operations/streams/prove-stream.ts'
import { verifyLog } from '../../../api/operations/streams/verify-log.ts'
import { ConfigSchema } from '../../../api/process/config/settings.ts'
import { openServices } from '../../../api/process/open-services.ts'
import { readLossEvents } from '../../../domain/agent/runtime/losses.ts'
import { AGGREGATES } from '../../../domain/kinds.ts'
import { verifyHeads } from '../../../domain/proof/runtime/verify-heads.ts'
import type { StreamProof } from '../../../domain/stream/runtime/stream-proof.ts'
import { Streams } from '../../../domain/stream/runtime/streams.ts'
import { ATTACKS, type Attacked, type Forgery } from './attacks.ts'
import { Forger } from './forger.ts'
import type { Told } from './story.ts'

/** A problem that verification names. */
export interface Found {
  /** `log`: it cannot be opened or read. */
  readonly where: 'stream' | 'heads' | 'rows' | 'log'
  readonly stream: string
  readonly revision: number
  readonly code: string
  readonly message: string
}

const found = (where: Found['where'], code: string, message: string, stream = '', revision = -1): Found => ({
  ...{ where, code, message, stream, revision },
})

export const openOf = (data: string) => `${data}-open`

/** The checkpoints that a verifier has from a folder outside, whatever the log says of its anchors. */
function outside(folder: string) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  return files.map(({ parentPath, name }) => ({
    anchor: 'outside',
    checkpoint: readFileSync(join(parentPath, name), 'utf8'),
  }))
}

/** The parts of `keepup verify` that read no tables, over these streams. `anchor`: also compares with its heads. */
export async function verified(data: string, streams: readonly string[], anchor: string | null): Promise<Found[]> {
  const log = await openSqliteLog({ folder: join(data, 'log'), mode: 'reader' }).catch((error: Error) => error)
  if (log instanceof Error) return [found('log', 'LOG', log.message)]
  const store = new SqliteTreeStore(join(data, 'tree.db'), 'reader', (...range) => log.hashes(...range))
  const blobs = new FileBlobs(join(data, 'blobs'))
  try {
    const acceptedLosses = await readLossEvents(log)
    const heads = await verifyHeads({ log, blobs, store, acceptedLosses }, anchor === null ? [] : outside(anchor))
    const all = heads.problems.map(({ code, message }) => found('heads', code, message))
    const ports = { log, blobs, clock: { now: () => 0, sleep: async () => {} } }
    const verifier = new Streams(
      { ...ports, random: { bytes: () => new Uint8Array() }, hide: async (value) => value },
      AGGREGATES,
    )
    for (const stream of streams) {
      const proof = await verifier.verify(stream).catch((error: unknown) => error)
      if (proof instanceof Error) {
        // `keepup verify` names the stream of such an error, and rethrows every other.
        const why = damage(proof)
        if (why === null) throw proof
        all.push(found('stream', 'LOG', why, stream))
        continue
      }
      const { problems } = proof as StreamProof
      all.push(...problems.map(({ code, message, revision }) => found('stream', code, message, stream, revision)))
    }
    return all
  } finally {
    store.close()
    await log.close()
  }
}

/** The parts of `keepup verify` that compare the log with the tables. */
export async function comparedRows(data: string, streams: readonly string[]): Promise<Found[]> {
  const config = ConfigSchema.parse({ data })
  const services = (await openServices(config, 'reader', { autoDrive: false }, { tell: () => {} }))!
  try {
    const all = (await verifyLog(services)).problems.map(({ code, message }) => found('rows', code, message))
    for (const stream of streams) {
      const { problems } = await proveStream(services, stream)
      all.push(
        ...problems.map(({ code, message, revision }) =>
          found(code === 'TABLE' ? 'rows' : 'stream', code, message, stream, revision),
        ),
      )
    }
    return all
  } finally {
    await services.close()
  }
}

/** The data folder of a story as an attacker finds it. The attacks begin with a copy without the triggers of the log. */
export async function attackable({ data, anchor }: Told): Promise<Attacked> {
  cpSync(data, openOf(data), { recursive: true, filter: (path) => !path.endsWith('.sock') })
  new Forger(openOf(data)).close()
  const log = await openSqliteLog({ folder: join(data, 'log'), mode: 'reader' })
  const store = new SqliteTreeStore(join(data, 'tree.db'), 'reader', (...range) => log.hashes(...range))
  try {
    const events = (await Array.fromAsync(log.readAll(null))).flat()
    const blobs = new FileBlobs(join(data, 'blobs'))
    const { anchored, ok } = await verifyHeads({ log, blobs, store, acceptedLosses: [] }, outside(anchor))
    if (!ok) throw new Error('the heads do not hold before the attack')
    return { events, anchored, heads: (await store.heads(0, 500)).map(({ size }) => size) }
  } finally {
    store.close()
    await log.close()
  }
}

export interface Outcome {
  readonly forgery: Forgery
  /** Named without an anchor; with one. */
  readonly named: boolean
  readonly anchored: boolean
  readonly problems: readonly Found[]
}

/** Attacks a copy of a data folder at a random place and verifies it. Null: there is nothing to change at that place. */
export async function attacked(
  { data, anchor }: Told,
  before: Attacked,
  attack: keyof typeof ATTACKS,
  draw: (below: number) => number,
): Promise<Outcome | null> {
  const copy = `${data}-copy`
  const parts = attack === 'table edit' ? [''] : ['log', 'tree.db', 'log.key', 'blobs']
  rmSync(copy, { recursive: true, force: true })
  mkdirSync(copy, { mode: 0o700 })
  for (const part of parts) cpSync(join(openOf(data), part), join(copy, part), { recursive: true })
  const forgery = ATTACKS[attack]!(copy, before, draw)
  if (forgery === null) return null
  const { streams, rows, names } = forgery
  const problems = rows ? await comparedRows(copy, streams) : await verified(copy, streams, null)
  const named = problems.some(names)
  if (named || rows) return { forgery, named, anchored: named, problems }
  const more = await verified(copy, streams, anchor)
  return { forgery, named, anchored: more.some(names), problems: more }
}
