import { expect, test } from 'vitest'
import { MemoryLog } from '../../adapters/memory/log.ts'
import { openSqliteLog } from '../../adapters/sqlite/log/open.ts'
import { claimKey } from '../../domain/agent/runtime/claim-idempotency-key.ts'
import { LogError } from '../../domain/log/errors.ts'
import { keyStream } from '../../domain/log/idempotency-claim.ts'
import { keyedCommand } from '../../domain/log/ids.ts'
import { StreamVerifier } from '../../domain/log/verify.ts'
import type { EventLog } from '../../domain/ports/index.ts'
import { openLog, standIn } from '../support/eventstore/logs.ts'
import { tempFolder } from '../support/folders.ts'
import { collect } from '../support/log/sealing.ts'
import { standing } from '../support/time/standing-clock.ts'
import { VirtualClock } from '../support/time/virtual-clock.ts'

const reused = { code: 'IDEMPOTENCY_KEY_REUSED' }
let salts = 0
const portsOf = (log: EventLog) => ({
  log,
  // Files and servers take real time, which must not bring a played clock to its limits.
  clock: standing(Date.UTC(2027, 0, 1)),
  random: { bytes: (length: number) => new Uint8Array(length).fill(++salts) },
})

test.each([
  ['memory', async () => new MemoryLog()],
  ['SQLite', async () => openSqliteLog({ folder: tempFolder(), mode: 'owner' })],
  ['EventStoreDB', async () => openLog((await standIn()).url)],
])('a key is bound to one request in the whole log (%s)', async (_, open) => {
  const log = await open()
  const claim = (asked: unknown, key = 'K') => claimKey(portsOf(log), key, asked)
  const ended = await Promise.allSettled([claim({ start: 1 }), claim({ fork: 1 }), claim({ start: 1 })])
  const won = ended[0]!.status === 'fulfilled'
  expect(ended.map(({ status }) => status === 'fulfilled')).toEqual([won, !won, won])
  const [mine, other] = won ? [{ start: 1 }, { fork: 1 }] : [{ fork: 1 }, { start: 1 }]
  await claim(mine)
  await expect(claim(other)).rejects.toMatchObject(reused)
  await claim(other, 'L')
  const stream = keyStream(keyedCommand(log.logId, 'K', mine))
  const verifier = new StreamVerifier(stream)
  verifier.page(await collect(log.read(stream)))
  expect(verifier.result()).toMatchObject({ ok: true, events: 1 })
  // Neither the key nor the request stands there in words.
  expect(JSON.stringify((await collect(log.read(stream)))[0]!.header)).not.toMatch(/"K"|start|fork/)
  await log.close()
})

test('a claim with an unknown outcome is found again', async () => {
  const log = new MemoryLog()
  const { append } = log
  log.append = async (...asked) => {
    await append.apply(log, asked)
    throw new LogError('LOG_UNAVAILABLE', 'no answer')
  }
  const away = { ...portsOf(log), clock: new VirtualClock() }
  await expect(claimKey(away, 'K', 1)).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
  log.append = append
  await claimKey(portsOf(log), 'K', 1)
  await expect(claimKey(portsOf(log), 'K', 2)).rejects.toMatchObject(reused)
})
