import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { MemoryLog } from '../../adapters/memory/log.ts'
import { logKeyFile } from '../../adapters/vault/log-key.ts'
import { AGGREGATES } from '../../domain/kinds.ts'
import { sha256 } from '../../domain/log/ids.ts'
import { openCheckpoint, parseCheckpoint, signCheckpoint } from '../../domain/log/proof/checkpoint.ts'
import { formatVkey, parseVkey, splitNote } from '../../domain/log/proof/note.ts'
import { edgeRoot, leafHash } from '../../domain/log/proof/tree.ts'
import { formatWitnessRequest, readWitnessAnswer } from '../../domain/log/proof/witness.ts'
import type { EventLog } from '../../domain/ports/index.ts'
import { proof } from '../../domain/proof/kind.ts'
import { LogWitness } from '../../domain/proof/runtime/log-witness.ts'
import { WITNESS_ID } from '../../domain/proof/witness.ts'
import { replaced } from '../../domain/stream/runtime/replace-member.ts'
import { Streams } from '../../domain/stream/runtime/streams.ts'
import { MemoryBlobs } from '../support/harness.ts'
import { StoredTree } from '../support/merkle.ts'
import { logSigner } from '../support/proof-keys.ts'
import { property } from '../support/property.ts'
import { standing } from '../support/time/standing-clock.ts'

const ANN = { kind: 'user', id: 'ann' } as const
const [log, other] = [logSigner('log.example/1'), logSigner('other.example', 5)]
const vkey = formatVkey(log.key)

/** Two histories of a log that cheats: both begin with the same 5 leaves. */
const SHARED = 5
const histories = ['a', 'b'].map((name) => {
  const tree = new StoredTree()
  const roots = [edgeRoot(tree.edge)]
  for (let n = 0; n < 20; n += 1) {
    tree.append(leafHash(Buffer.from(n < SHARED ? `${n}` : `${name}${n}`)))
    roots.push(edgeRoot(tree.edge))
  }
  return { tree, roots }
})

function bodyOf(history: number, old: number, size: number, signer = log): string {
  const { tree, roots } = histories[history]!
  const checkpoint = signCheckpoint({ origin: signer.key.name, size, root: roots[size]! }, signer)
  return formatWitnessRequest({ old, proof: old > size ? [] : tree.consistency(old, size), checkpoint })
}

/** A log in memory with witnesses, as several processes have them. */
function world() {
  const folder = mkdtempSync(join(tmpdir(), 'keepup-witness-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const memory = new MemoryLog()
  let drawn = 0
  const state = { losses: 0, key: join(folder, 'witness.key') }
  return {
    state,
    memory,
    asker: () => ({ by: ANN, commandId: `test:${++drawn}` }),
    process(log: EventLog = memory): LogWitness {
      const random = { bytes: (length: number) => Uint8Array.from({ length }, (_, at) => (++drawn * 31 + at) % 256) }
      const clock = standing(Date.UTC(2026, 5, 1))
      const ports = { log, blobs: new MemoryBlobs(), random, clock, hide: async <T>(value: T) => value }
      return new LogWitness({
        ...{ clock, random, name: 'witness.example', keys: logKeyFile(state.key) },
        mailbox: new Streams(ports, AGGREGATES).mailbox(proof, WITNESS_ID),
        acceptedLosses: async () => state.losses,
      })
    },
  }
}

const cosigned = (body: string, answer: { status: number; mediaType: string; body: string }, key: string) => {
  const checkpoint = body.slice(body.indexOf('\n\n') + 2)
  const read = readWitnessAnswer(answer, checkpoint, parseVkey(key))
  return read.kind === 'cosigned' ? openCheckpoint(read.checkpoint, [log.key], [parseVkey(key)]) : null
}

test('a witness answers each request as C2SP says, and remembers over a restart', async () => {
  const { process, asker, state } = world()
  const witness = process()
  const status = async (body: string) => (await witness.addCheckpoint(body)).status
  expect(await status(bodyOf(0, 0, 3))).toBe(404)
  await witness.add(vkey, asker())
  const key = await witness.key(ANN)
  expect(statSync(state.key).mode & 0o777).toBe(0o600)
  const first = bodyOf(0, 0, 3)
  expect(cosigned(first, await witness.addCheckpoint(first), key)).toMatchObject({ size: 3 })
  const again = process()
  expect(await again.addCheckpoint(bodyOf(0, 0, 7))).toEqual({
    status: 409,
    mediaType: 'text/x.tlog.size',
    body: '3\n',
  })
  expect(await status(bodyOf(0, 3, 7))).toBe(200)
  expect(await again.addCheckpoint(bodyOf(0, 3, 9))).toMatchObject({ status: 409, body: '7\n' })
  expect(await status(bodyOf(1, 7, 9))).toBe(422)
  expect(await status(bodyOf(0, 7, 5))).toBe(400)
  expect(await status('old x\n\n')).toBe(400)
  expect(await status(bodyOf(0, 7, 9, logSigner('log.example/1', 2)))).toBe(403)
  expect(await status(bodyOf(0, 0, 9, other))).toBe(404)
  const held = (await again.checkpoint(sha256(log.key.name)))!
  expect(openCheckpoint(held, [log.key], [parseVkey(key)])).toMatchObject({ size: 7, signatures: [{}, {}] })
  expect(await again.checkpoint(sha256('other.example'))).toBeNull()
})

test('a repeated request is cosigned again and records nothing', async () => {
  const { process, asker, memory } = world()
  const witness = process()
  await witness.add(vkey, asker())
  await witness.addCheckpoint(bodyOf(0, 0, 7))
  const before = await memory.head('proof-witness')
  for (let n = 0; n < 3; n += 1) expect((await witness.addCheckpoint(bodyOf(0, 7, 7))).status).toBe(200)
  expect(await memory.head('proof-witness')).toEqual(before)
})

test('a removed log is not cosigned, and added again it must continue its last checkpoint', async () => {
  const { process, asker } = world()
  const witness = process()
  await witness.add(vkey, asker())
  await witness.addCheckpoint(bodyOf(0, 0, 9))
  await witness.remove('log.example/1', asker())
  expect((await witness.addCheckpoint(bodyOf(0, 9, 12))).status).toBe(404)
  expect(await witness.checkpoint(sha256('log.example/1'))).toBeNull()
  await expect(witness.remove('log.example/1', asker())).rejects.toMatchObject({ code: 'LOG_UNKNOWN' })
  await witness.add(vkey, asker())
  expect((await witness.addCheckpoint(bodyOf(1, 0, 9))).status).toBe(409)
  expect((await witness.addCheckpoint(bodyOf(1, 9, 12))).status).toBe(422)
  expect((await witness.addCheckpoint(bodyOf(0, 9, 12))).status).toBe(200)
})

test('after an accepted loss nothing is cosigned before the witness has a new key', async () => {
  const { process, asker, state } = world()
  const witness = process()
  await witness.add(vkey, asker())
  const key = await witness.key(ANN)
  expect(await witness.key(ANN)).toBe(key)
  state.losses = 1
  await expect(witness.addCheckpoint(bodyOf(0, 0, 3))).rejects.toMatchObject({ code: 'WITNESS_KEY_OLD' })
  const fresh = await witness.key(ANN)
  expect(fresh).not.toBe(key)
  expect((await witness.addCheckpoint(bodyOf(0, 0, 3))).status).toBe(200)
  state.key += '.lost'
  await expect(process().addCheckpoint(bodyOf(0, 3, 5))).rejects.toMatchObject({ code: 'WITNESS_KEY_MISSING' })
})

test('a key that cannot sign heads of a log is refused', async () => {
  const { process, asker } = world()
  const witness = process()
  const own = await witness.key(ANN)
  await expect(witness.add(own, asker())).rejects.toMatchObject({ code: 'KEY_TYPE' })
})

test('no two inconsistent checkpoints are cosigned, whatever processes are asked at once and killed', async () => {
  const request = fc.record({ process: fc.nat(1), history: fc.nat(1), size: fc.integer({ min: 1, max: 20 }) })
  const fault = fc.constantFrom('none', 'none', 'none', 'before', 'after')
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(request, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 5 }),
      fc.array(fault, { maxLength: 12 }),
      async (rounds, faults) => {
        const { process, asker, memory } = world()
        await process().add(vkey, asker())
        const key = await process().key(ANN)
        const left = [...faults]
        const faulty = replaced(memory as EventLog, 'append', async (...asked) => {
          const kill = left.shift()
          if (kill === 'before') throw new Error('killed')
          const done = await (memory as EventLog).append(...asked)
          if (kill === 'after') throw new Error('killed')
          return done
        })
        const processes = [process(faulty), process(faulty)]
        const given: { history: number; size: number }[] = []
        const ask = async ({ process: at, history, size }: { process: number; history: number; size: number }) => {
          let old = 0
          for (let tries = 0; tries < 3; tries += 1) {
            const body = bodyOf(history, old, size)
            const answer = await processes[at]!.addCheckpoint(body).catch(() => null)
            if (answer === null) {
              processes[at] = process(faulty)
              continue
            }
            if (answer.status === 409) {
              old = Number(answer.body)
              if (old > size) return
              continue
            }
            if (cosigned(body, answer, key) !== null) given.push({ history, size })
            return
          }
        }
        for (const round of rounds) await Promise.all(round.map(ask))
        const beyond = new Set(given.filter(({ size }) => size > SHARED).map(({ history }) => history))
        expect(beyond.size).toBeLessThanOrEqual(1)
        // The witness remembers everything that it gave away.
        const held = await process().checkpoint(sha256(log.key.name))
        const last = held === null ? 0 : parseCheckpoint(splitNote(held).text).size
        expect(last).toBeGreaterThanOrEqual(Math.max(0, ...given.map(({ size }) => size)))
      },
    ),
    property(60),
  )
})
