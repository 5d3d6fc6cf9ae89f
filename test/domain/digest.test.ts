import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { digestOf, FOLD } from '../../domain/agent/state/digest.ts'
import { type AgentState, BLANK } from '../../domain/agent/state/state.ts'
import { property } from '../support/property.ts'

/** The digest as the format says it, without a thought for its cost. */
function plainly(state: AgentState): string {
  const { spec: _spec, lastText: _lastText, argumentsSalt: _argumentsSalt, loss, ...rest } = state
  const view = loss === null ? rest : { ...rest, loss }
  return createHash('sha256').update(`keepup-fold-${FOLD}\n`).update(sorted(view)).digest('hex')
}

function sorted(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(sorted).join(',')}]`
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, member]) => `${JSON.stringify(key)}:${sorted(member)}`).join(',')}}`
}

describe('the digest of a state', () => {
  test('is over its members in order of their names, whatever was hashed before it', () => {
    const names = fc.constantFrom(...(Object.keys(BLANK) as (keyof typeof BLANK)[]).filter((name) => name !== 'cancel'))
    const change = fc.tuple(names, fc.jsonValue({ maxDepth: 3 }))
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 12 }), (changes) => {
        let state = { ...BLANK, spec: {} } as AgentState
        for (const [name, value] of changes) {
          // Frozen: parts of a state are shared between states and never changed in place.
          state = Object.freeze({ ...state, [name]: value } as AgentState)
          expect(digestOf(state)).toBe(plainly(state))
        }
      }),
      property(300),
    )
  })

  test('is the same whatever was said of a cancel', () => {
    const digest = (cancel: AgentState['cancel']) => digestOf({ ...BLANK, spec: {}, cancel } as AgentState)
    const cancel = { deadlineAt: 5, by: 'ann' }
    expect(digest({ ...cancel, reason: 'a private matter' })).toBe(digest(cancel))
    expect(digest({ ...cancel, deadlineAt: 6 })).not.toBe(digest(cancel))
    expect(digest(null)).not.toBe(digest(cancel))
  })
})
