import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MemoryLog } from '../../adapters/memory/log.ts'
import { SqliteTreeStore } from '../../adapters/sqlite/tree-store.ts'
import { logKeyFile } from '../../adapters/vault/log-key.ts'
import { AGGREGATES } from '../../domain/kinds.ts'
import { PROOF_ID, proof } from '../../domain/proof/kind.ts'
import { LogSigner } from '../../domain/proof/runtime/log-signer.ts'
import { type AcceptedLoss, verifyHeads } from '../../domain/proof/runtime/verify-heads.ts'
import { Streams } from '../../domain/stream/runtime/streams.ts'
import { MemoryBlobs } from '../support/harness.ts'
import { BEFORE, NEW, Sealer, type Tip } from '../support/log/sealing.ts'
import { standing } from '../support/time/standing-clock.ts'

const identity = { bytes: (length: number) => new Uint8Array(length).fill(7) }
const STREAMS = ['agent-a1', 'agent-a2', 'document-d1']

interface Restart {
  readonly killed: boolean
  readonly cutTo?: number
  readonly loseKey?: boolean
  /** The tree and its heads are gone. */
  readonly loseTree?: boolean
}

/** A log in memory whose heads are signed, with its tree and key in a temporary folder. */
export async function signedLog() {
  const folder = mkdtempSync(join(tmpdir(), 'keepup-signed-'))
  let drawn = 0
  const random = { bytes: (length: number) => Uint8Array.from({ length }, (_, at) => (++drawn * 31 + at) % 256) }
  const clock = standing(Date.UTC(2026, 5, 1))
  const warnings: string[] = []
  const blobs = new MemoryBlobs()
  const open = (log: MemoryLog, key: string) => {
    let dead = false
    const store = new SqliteTreeStore(join(folder, 'tree.db'), 'owner', async (from, to) => {
      const events = (await Array.fromAsync(log.readAll(null))).flat()
      return events.slice(from - 1, to).map(({ hash }) => hash)
    })
    const grow = store.grow.bind(store)
    store.grow = (growth) => (dead ? Promise.reject(new Error('killed')) : grow(growth))
    const streams = new Streams({ log, blobs, random, clock, hide: async (value) => value }, AGGREGATES)
    const keys = logKeyFile(join(folder, key))
    const acceptedLosses = async () => world.losses.length
    const warn = (text: string) => void warnings.push(text)
    const origin = 'example.org/log'
    const signer = LogSigner.start({
      log,
      store,
      keys,
      streams,
      clock,
      random,
      origin,
      acceptedLosses,
      warn,
    })
    const close = async (killed: boolean) => {
      dead = killed
      await signer.close()
      store.close()
    }
    return { log, store, streams, signer, close }
  }
  const sealer = new Sealer()
  const tips = new Map<string, Tip>()
  const world = {
    tree: join(folder, 'tree.db'),
    losses: [] as AcceptedLoss[],
    blobs,
    warnings,
    ...open(new MemoryLog({ random: identity, clock: BEFORE }), 'log.key'),
    events: async () => (await Array.fromAsync(world.log.readAll(null))).flat(),
    state: async () => (await world.streams.state(proof, PROOF_ID))!,
    verify: (outside: Parameters<typeof verifyHeads>[1] = []) =>
      verifyHeads({ log: world.log, blobs, store: world.store, acceptedLosses: world.losses }, outside),
    /** Ann accepts that the log has lost what followed its last event. */
    async accept() {
      const { position: end } = (await world.events()).at(-1)!
      const header = { actor: { kind: 'user', id: 'ann' }, timestamp: '2026-06-01T00:00:00.000Z' } as const
      world.losses.push({ event: { header }, loss: { end, gaps: [], reason: 'disk' } })
    },
    /** Appends events to several streams in turn. */
    async write(count: number) {
      for (let n = 0; n < count; n += 1) {
        const stream = STREAMS[n % STREAMS.length]!
        const tip = tips.get(stream) ?? NEW
        const batch = sealer.batch(stream, tip, [{ body: { n } }])
        await world.log.append(stream, tip.revision, batch)
        tips.set(stream, { revision: batch[0]!.header.revision, hash: batch[0]!.hash })
      }
    },
    /** Opens it again. `cutTo`: the log has only its first events then. */
    async restart({ killed, cutTo, loseKey = false, loseTree = false }: Restart) {
      await world.close(killed)
      if (loseTree) for (const end of ['', '-wal', '-shm']) rmSync(join(folder, `tree.db${end}`), { force: true })
      const events = await world.events()
      const log = new MemoryLog({ random: identity, clock: BEFORE })
      tips.clear()
      for (const event of events.slice(1, cutTo)) {
        const { stream, revision } = event.header
        await log.append(stream, revision - 1, [event])
        tips.set(stream, { revision, hash: event.hash })
      }
      Object.assign(world, open(log, loseKey ? 'other.key' : 'log.key'))
    },
    async [Symbol.asyncDispose]() {
      await world.close(false)
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return world
}

/** The log with other methods in the place of its own. */
export const withMethods = <T extends object>(of: T, own: Partial<T>): T =>
  new Proxy(of, {
    get(target, name) {
      const found = Reflect.get(name in own ? own : target, name)
      return typeof found === 'function' ? found.bind(target) : found
    },
  })
