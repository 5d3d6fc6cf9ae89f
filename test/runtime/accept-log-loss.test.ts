import { expect, test } from 'vitest'
import { MemoryLog } from '../../adapters/memory/log.ts'
import { acceptLogLoss, readAcceptedLosses } from '../../domain/agent/runtime/losses.ts'
import { canonicalBytes } from '../../domain/log/canonical.ts'
import { LogError } from '../../domain/log/errors.ts'
import { type LogLoss, sealLoss } from '../../domain/log/loss/loss.ts'
import { saltBody, seal } from '../../domain/log/seal.ts'
import { USER } from '../support/harness.ts'
import { VirtualClock } from '../support/time/virtual-clock.ts'

const loss = (id: string): LogLoss => ({ id, end: 1, mark: null, tables: null, vanished: [], gaps: [] })
const portsOf = (log: MemoryLog) => ({
  log,
  clock: new VirtualClock(),
  random: { bytes: (length: number) => new Uint8Array(length).fill(7) },
})
const ids = async (log: MemoryLog) => (await readAcceptedLosses(log)).map(({ id }) => id)

test('acceptances that come at once are both recorded, each of them once', async () => {
  const log = new MemoryLog()
  const all = ['a', 'b', 'a', 'b'].map((id) => acceptLogLoss(portsOf(log), loss(id), USER))
  await Promise.all(all)
  expect((await ids(log)).toSorted()).toEqual(['a', 'b'])
})

test('an acceptance whose append has an unknown outcome is sent again', async () => {
  const log = new MemoryLog()
  const { append } = log
  let answers = 0
  log.append = async (...asked) => {
    const done = await append.apply(log, asked)
    if (answers++ === 0) throw new LogError('LOG_UNAVAILABLE', 'no answer')
    return done
  }
  await acceptLogLoss(portsOf(log), loss('a'), USER)
  expect(await ids(log)).toEqual(['a'])
})

test.each([
  ['its version', 2, {}],
  ['a member', 1, { whatComesLater: 1 }],
])('an acceptance of a newer keepup, told by %s, is not passed over', async (_, version, more) => {
  const log = new MemoryLog()
  const head = (await log.head('log-meta'))!
  const about = { by: USER, salt: new Uint8Array(16), timestamp: new Date(head.timestamp).toISOString() }
  const { header } = sealLoss(head, loss('a'), about)
  const body = saltBody(canonicalBytes({ ...loss('a'), ...more }), about.salt)
  await log.append('log-meta', head.revision, [
    seal(head.hash, { ...header, version, body: body.header } as never, body.bytes),
  ])
  await expect(readAcceptedLosses(log)).rejects.toMatchObject({
    code: 'LOG_NEWER',
    message: expect.stringContaining('newer'),
  })
})
