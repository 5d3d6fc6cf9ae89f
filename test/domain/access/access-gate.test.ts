import { expect, it } from 'vitest'
import { AccessGate } from '../../../domain/access/runtime/access-gate.ts'
import { type AccessState, evolveAccess } from '../../../domain/access/state.ts'
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

it('takes no role from a token that is older than the newest one of its subject', () => {
  const { gate } = gateOver([])
  const bodyHash = 'a'.repeat(64)
  const begun = { type: 'access_begun', body: { roles: {} }, bodyHash } as Parameters<typeof evolveAccess>[1]
  const state: AccessState = evolveAccess(null, begun)
  const source = { issuer: 'https://login.example.org', audience: 'keepup' }
  const login = (issuedAt: string, subject = '1') => ({
    ...{ subject: { issuer: source.issuer, subject }, kind: 'service' as const, name: 'Dora', ids: ['dora'] },
    claim: { ...source, issuedAt, roles: ['viewer' as const] },
  })
  const at = (second: number) => `2026-01-01T00:00:0${second}Z`
  expect(gate.identifyToken(state, login(at(2)))).toBe('unrecorded')
  expect(gate.identifyToken(state, login(at(1)))).toBe('no_role')
  expect(gate.identifyToken(state, login(at(1), '2'))).toBe('unrecorded')
  expect(gate.identifyToken(state, login(at(2)))).toBe('unrecorded')
})
