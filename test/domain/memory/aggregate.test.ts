import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MEMORY_ID, SCOPES } from '../../../domain/calls/memory/request.ts'
import { canonicalBytes } from '../../../domain/log/canonical.ts'
import type { Header } from '../../../domain/log/envelope.ts'
import { memory } from '../../../domain/memory/aggregate.ts'
import type { MemoryCommand } from '../../../domain/memory/decide.ts'
import type { MemoryEvent } from '../../../domain/memory/events.ts'
import { memoryOfCall, memoryStream } from '../../../domain/memory/fact.ts'
import type { MemoryState } from '../../../domain/memory/state.ts'
import { property } from '../../support/property.ts'

const context = {
  now: 1_000,
  salt: () => new Uint8Array(16),
  jitter: () => 0,
  by: { kind: 'user', id: 'ann' } as const,
  commandId: 'request:1',
}

/** A fact after commands; `refused`: the codes of those that were refused. */
function after(commands: readonly MemoryCommand[]) {
  let state: MemoryState | null = null
  const events: MemoryEvent[] = []
  const refused: string[] = []
  for (const command of commands) {
    try {
      const place = { stream: memoryStream('global-x'), revision: events.length - 1 }
      const decision = memory.decide(state, place, command, context)
      for (const { event, after } of decision.drafts) {
        expect(memory.fault(event)).toBe(null)
        expect(memory.evolve(state, event)).toEqual(after)
        events.push(event)
      }
      state = decision.state
    } catch (error) {
      refused.push((error as { code: string }).code)
    }
  }
  return { state, events, refused, types: events.map(({ type }) => type) }
}

const remember = { kind: 'remember', scope: 'global', place: '', text: 'a' } as const
const correct = { kind: 'correct', text: 'b' } as const
const forget = { kind: 'forget', reason: null } as const

test('a fact is saved once, corrected until it is forgotten, and forgotten once', () => {
  const { types, refused, state } = after([correct, remember, remember, correct, forget, forget, correct])
  expect(types).toEqual(['fact_remembered', 'fact_corrected', 'fact_forgotten'])
  expect(refused).toEqual(['MEMORY_UNKNOWN', 'MEMORY_EXISTS', 'MEMORY_FORGOTTEN'])
  expect(state).toEqual({ scope: 'global', place: '', corrections: 1, forgotten: true })
})

test('whatever is asked: no decision that the fold refuses, and erased words change no digest', () => {
  const command = fc.constantFrom<MemoryCommand>(remember, correct, forget)
  fc.assert(
    fc.property(fc.array(command, { maxLength: 8 }), (commands) => {
      const { events, state } = after(commands)
      let folded: MemoryState | null = null
      for (const event of events) {
        const body = memory.erasing.residue(event.type, event.body, event.bodyHash)
        expect(new TextDecoder().decode(canonicalBytes(body))).not.toMatch(/"text":"|"reason":"/)
        folded = memory.evolve(folded, { ...event, body } as MemoryEvent)
      }
      expect(folded && memory.digest(folded)).toBe(state && memory.digest(state))
    }),
    property(100),
  )
})

test('only a fact that was forgotten may be erased', () => {
  const ending = memory.erasing.ending()
  expect(ending.ended).toBe(false)
  ending.see({ type: 'fact_remembered' } as Header)
  expect(ending.ended).toBe(false)
  ending.see({ type: 'fact_forgotten' } as Header)
  expect(ending.ended).toBe(true)
})

test('the id of a fact is that of its call, and names its scope', () => {
  for (const scope of SCOPES) {
    const id = memoryOfCall(scope, 'run.t1.c0')
    expect(id).toMatch(MEMORY_ID)
    expect(memoryOfCall(scope, 'run.t1.c0')).toBe(id)
    expect(memoryOfCall(scope, 'run.t1.c1')).not.toBe(id)
    expect(id.startsWith(`${scope}-`)).toBe(true)
  }
})
