import { createCipheriv, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import { canonicalBytes, canonicalHeader } from '../../../domain/log/canonical.ts'
import { GENESIS, saltBody, seal } from '../../../domain/log/seal.ts'
import { confirms } from '../../support/confirm.ts'
import { openLog, standIn } from '../../support/eventstore/logs.ts'
import { tempFolder } from '../../support/folders.ts'
import { BEFORE, collect, erasedBody, NEW, Sealer, tipOf } from '../../support/log/sealing.ts'

// Who guesses an erased body whole finds the guess confirmed by nothing that remains.

const stream = 'agent-a1'
const GUESS = { text: 'the patient is Ann' }
const content = canonicalBytes(GUESS)

const filesIn = (folder: string) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [readFileSync(join(folder, entry.name))] : [],
  )

test('SQLite keeps nothing that confirms an erased body', async () => {
  const folder = tempFolder()
  const sealer = new Sealer()
  const log = await openSqliteLog({ folder, mode: 'owner', clock: BEFORE })
  const batch = sealer.batch(stream, NEW, [{}, { body: GUESS }])
  await log.append(stream, -1, batch)
  expect(confirms(filesIn(folder), content)).toBe(true)
  await log.append(stream, 1, sealer.batch(stream, tipOf(batch), [{ type: 'erased', body: erasedBody(batch[1]!) }]))
  await log.close()
  expect(confirms(filesIn(folder), content)).toBe(false)
})

test('the reference log keeps nothing that confirms an erased body', async () => {
  const sealer = new Sealer()
  const log = new MemoryLog({ clock: BEFORE })
  const remaining = async () =>
    (await collect(log.readAll(null))).flatMap(({ header, hash, id, body }) => [
      Buffer.from(canonicalHeader(header) + hash + id),
      body ?? Buffer.alloc(0),
    ])
  const batch = sealer.batch(stream, NEW, [{}, { body: GUESS }])
  await log.append(stream, -1, batch)
  expect(confirms(await remaining(), content)).toBe(true)
  await log.append(stream, 1, sealer.batch(stream, tipOf(batch), [{ type: 'erased', body: erasedBody(batch[1]!) }]))
  expect(confirms(await remaining(), content)).toBe(false)
})

test('EventStoreDB keeps nothing that confirms a body whose key was destroyed', async () => {
  const server = await standIn()
  const log = await openLog(server.url)
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', randomBytes(32), nonce)
  const stored = Buffer.concat([cipher.update(content), cipher.final(), cipher.getAuthTag()])
  const { bytes, header } = saltBody(stored, randomBytes(16))
  const [plain] = new Sealer().batch(stream, NEW, [{ body: GUESS }])
  const about = { alg: 'A256GCM', keyId: 'k-1', nonce: nonce.toString('hex') }
  const event = seal(GENESIS, { ...plain!.header, body: { ...header, cipher: about } }, bytes)
  await log.append(stream, -1, [event])
  const held = (name: string) =>
    (server.store.events(`ns.${name}`) ?? []).flatMap(({ data, metadata }) => [
      Buffer.from(data),
      Buffer.from(metadata),
    ])
  // The key is nowhere in the log: what the server holds is all that remains.
  expect(confirms(held(stream), stored)).toBe(true)
  expect(confirms(held(stream), content)).toBe(false)
  await log.append('agent-a2', -1, new Sealer().batch('agent-a2', NEW, [{ body: GUESS }]))
  expect(confirms(held('agent-a2'), content)).toBe(true)
})
