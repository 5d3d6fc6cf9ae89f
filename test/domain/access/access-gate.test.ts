import { expect, it } from 'vitest'
import { AccessGate } from '../../../domain/access/runtime/access-gate.ts'
import { LogError } from '../../../domain/log/errors.ts'

/** A gate over a mailbox whose reads end with these errors, in order; null: a read that succeeds. */
function gateOver(reads: (Error | null)[]) {
  let now = 0
  const state = { begun: true }
  const mailbox = {
    state,
    refresh: async () => {
      const error = reads.shift()
      if (error) throw error
    },
  }
  const ports = { clock: { now: () => ++now }, mailbox, streams: {}, random: {}, maxAgeMs: 1, writes: false }
  return { gate: new AccessGate(ports as never), state }
}

const outage = () => new LogError('LOG_UNAVAILABLE', 'no answer')

it('answers with the last known rights while the log cannot be reached', async () => {
  const { gate, state } = gateOver([null, outage()])
  await gate.state()
  expect(await gate.state()).toBe(state)
})

it('gives no rights before it has read the log, nor when the log is damaged', async () => {
  await expect(gateOver([outage()]).gate.state()).rejects.toThrow('no answer')
  const { gate } = gateOver([null, new LogError('LOG_CORRUPT', 'altered')])
  await gate.state()
  await expect(gate.state()).rejects.toThrow('altered')
})
