import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ChildResult, cutTo, merge } from '../../../domain/external/spawn/merge.ts'
import { property } from '../../support/property.ts'

// CONTRACTS 14, Spawner: the merges.

const done = (agentId: string, result: unknown): ChildResult => ({ agentId, status: 'completed', result })
const failed: ChildResult = { agentId: 'f', status: 'failed', result: { error: 'no' } }

describe('given results in the order of spawning', () => {
  test('concatenate joins the answers with blank lines, and names what is missing', () => {
    expect(merge('concatenate', [done('a', 'one'), failed, done('b', { n: 2 })])).toEqual({
      result: 'one\n\n{"n":2}',
      missing: ['f'],
    })
  })

  test('structured keeps every result under its agent', () => {
    expect(merge('structured', [done('a', 'one'), failed])).toEqual({
      result: { a: 'one', f: { error: 'no' } },
      missing: ['f'],
    })
  })

  test('vote takes the most frequent answer; of several the first, white space aside; a failure does not vote', () => {
    expect(merge('vote', [done('a', 'x'), done('b', 'y'), done('c', ' y\n'), failed])).toEqual({
      result: 'y',
      missing: ['f'],
      votes: { won: 2, of: 3 },
    })
    expect(merge('vote', [done('a', 'x'), done('b', 'y')]).result).toBe('x')
    expect(merge('vote', [failed])).toEqual({ result: null, missing: ['f'], votes: { won: 0, of: 0 } })
  })

  test('an unknown merge is refused', () => {
    expect(() => merge('other' as never, [])).toThrow(/one of concatenate, structured, vote, summarize/)
  })

  test('summarize has at most 2,000 characters, and a share of every answer', () => {
    const texts = fc.array(fc.tuple(fc.string({ unit: 'binary', maxLength: 3 }), fc.nat(1_500)), { maxLength: 8 })
    fc.assert(
      fc.property(texts, (given) => {
        const all = given.map(([unit, times]) => unit.repeat(times))
        const children = all.map((text, at) => done(`a${at}`, text))
        const { result } = merge('summarize', children)
        expect((result as string).length).toBeLessThanOrEqual(2_000)
        const whole = all.join('\n\n')
        if (whole.length <= 2_000) expect(result).toBe(whole)
      }),
      property(50),
    )
    const { result } = merge('summarize', [
      done('a', 'A'.repeat(5_000)),
      done('b', 'B'.repeat(5_000)),
      done('c', 'short'),
    ])
    expect(result).toMatch(/^A{900,}…\n\nB{900,}…\n\nshort$/)
  })

  test('a cut cuts no character in two', () => {
    expect(cutTo('ab😀', 4)).toBe('ab😀')
    expect(cutTo('ab😀c', 4)).toBe('ab…')
  })
})
