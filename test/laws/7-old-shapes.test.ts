import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { decode } from '../../domain/agent/codec.ts'
import { digestOf, FOLD } from '../../domain/agent/digest.ts'
import { bodies, type EventType, versions } from '../../domain/agent/events.ts'
import { evolve } from '../../domain/agent/evolve.ts'
import { Transcript } from '../../domain/agent/messages.ts'
import { ASSEMBLER, measuredParameters } from '../../domain/agent/request.ts'
import { modelInfo } from '../../domain/agent/routing.ts'
import type { AgentState } from '../../domain/agent/state.ts'
import { upcasters } from '../../domain/agent/upcasters.ts'
import type { Header } from '../../domain/log/envelope.ts'
import { chainHash, GENESIS } from '../../domain/log/seal.ts'
import { shapes } from '../support/golden-shapes.ts'

// Law 7: every old event shape folds to its recorded digest, or to a named change (a new FOLD).

const golden = join(import.meta.dirname, '../golden')
const recorded = JSON.parse(readFileSync(join(golden, 'shapes.json'), 'utf8')) as Record<string, string>
const histories = readdirSync(golden).filter((name) => name.endsWith('.jsonl'))

const HOW = 'a stored shape changed: raise its version, write an upcaster, and run node test/support/record-golden.ts'

test('no stored shape changes without a new version', () => {
  const now = shapes()
  for (const [name, hash] of Object.entries(now)) expect(recorded[name], `${name}: ${HOW}`).toBe(hash)
})

test('every version that was ever recorded is brought up to the current one', () => {
  for (const name of Object.keys(recorded)) {
    const [type, version] = name.split('@') as [EventType | 'header', string]
    if (type === 'header') continue
    expect(Object.keys(bodies), `${type} was stored once, so it stays readable`).toContain(type)
    for (let v = Number(version); v < versions[type]; v++)
      expect(upcasters[type]?.[v], `${type} ${v}`).toBeTypeOf('function')
  }
})

test.each(histories)('%s folds to its recorded digests', (name) => {
  const fold = Number(/\.fold(\d+)\./.exec(name)![1])
  let state: AgentState | null = null
  let previous = GENESIS
  let digests = 0
  for (const line of readFileSync(join(golden, name), 'utf8').trim().split('\n')) {
    const { header, hash, body } = JSON.parse(line) as { header: Header; hash: string; body: string }
    previous = chainHash(previous, header)
    expect(previous, `the chain at ${header.revision}`).toBe(hash)
    state = evolve(state, decode(header, Buffer.from(body)))
    if (header.digest === undefined) continue
    digests++
    if (fold === FOLD) expect(digestOf(state), `${header.type} at ${header.revision}`).toBe(header.digest.value)
  }
  expect(digests).toBeGreaterThan(3)
  expect(['DONE', 'ERROR']).toContain(state?.machine.status)
})

const OTHERWISE = 'requests are put together otherwise: raise ASSEMBLER, and run node test/support/record-golden.ts'

test.each(histories)('%s: the requests are put together as they were recorded', (name) => {
  const transcript = new Transcript()
  let state: AgentState | null = null
  let requests = 0
  for (const line of readFileSync(join(golden, name), 'utf8').trim().split('\n')) {
    const { header, body } = JSON.parse(line) as { header: Header; body: string }
    const event = decode(header, Buffer.from(body))
    state = evolve(state, event)
    transcript.push(event)
    if (event.type !== 'model_call_start' || event.body.request.assembler !== ASSEMBLER) continue
    requests++
    const { count, hash } = transcript.rendered
    const parameters = measuredParameters(state, modelInfo(state, event.body.model)).hash
    expect({ to: count, rendered: hash, parameters }, `${header.revision}: ${OTHERWISE}`).toEqual({
      to: event.body.request.to,
      rendered: event.body.request.rendered,
      parameters: event.body.request.parameters,
    })
  }
  expect(requests).toBeGreaterThan(0)
})

test('the recorded histories hold nearly every stored type', () => {
  const seen = new Set(
    histories.flatMap((name) =>
      readFileSync(join(golden, name), 'utf8')
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { header: Header }).header.type),
    ),
  )
  const missing = Object.keys(bodies).filter((type) => !seen.has(type))
  // A crash, a workspace, a fork, an expiry and an erasure have tests of their own.
  expect(missing.sort()).toEqual([
    'approval_expired',
    'erased',
    'forked',
    'late_outcome',
    'model_attempt_lost',
    'model_late',
    'residue',
    'step_requested',
    'workspace_drifted',
    'workspace_versioned',
  ])
})
