import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compilePattern, MAX_MATCH } from '../../../domain/secrets/compile-pattern.ts'

if (process.env.FC_SEED) fc.configureGlobal({ seed: Number(process.env.FC_SEED) })

// Only what is never empty is repeated: JavaScript forbids an empty repetition, which no machine without memory can.
const nullable = (source: string) => new RegExp(`^(?:${source.replace(/\\b|\$|(?<!\[)\^/g, '')})$`).test('')
const TIMES = ['', '', '', '*', '+', '?', '{2}', '{1,3}', '{0,2}', '*?', '+?', '??', '{1,}', '|']
const { pattern } = fc.letrec<{ pattern: string; atom: string }>((tie) => ({
  atom: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom('a', 'b', 'c', '.', '[ab]', '[^a]', '\\w', '\\b', '^', '$', '\\d', '[a-c-]', '\\.', '\\x61'),
    tie('pattern').map((p) => `(${p})`),
    tie('pattern').map((p) => `(?:${p})`),
  ),
  pattern: fc
    .array(fc.tuple(tie('atom'), fc.constantFrom(...TIMES)), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.map(([atom, times]) => (times === '|' || !nullable(atom) ? atom + times : atom)).join('')),
}))

describe('a user pattern', () => {
  it("matches what JavaScript's own engine matches, where no empty match is preferred", () => {
    fc.assert(
      fc.property(
        pattern,
        fc.string({ unit: fc.constantFrom('a', 'b', 'c', '1', ' ', '\n', '-'), maxLength: 12 }),
        (source, text) => {
          const native = [...text.matchAll(new RegExp(source, 'g'))]
          fc.pre(native.every((m) => m[0] !== ''))
          expect(compilePattern(source)(text)).toEqual(
            native.map((m) => ({ start: m.index, end: m.index + m[0].length })),
          )
        },
      ),
      { numRuns: 800 },
    )
  })

  it('that is catastrophic elsewhere ends here', () => {
    expect(compilePattern('(a+)+$|(a|a)*c')(`${'a'.repeat(3000)}b`)).toEqual([])
    expect(compilePattern('a*')('a'.repeat(2 * MAX_MATCH))).toEqual([
      { start: 0, end: MAX_MATCH },
      { start: MAX_MATCH, end: 2 * MAX_MATCH },
    ])
  })

  it('matches once wherever a long text places it, with its context', () => {
    for (let before = MAX_MATCH - 20; before <= 2 * MAX_MATCH + 20; before++) {
      const match = { start: before, end: before + 10 }
      const text = `${'.'.repeat(before)}SECRET-123${'.'.repeat(3 * MAX_MATCH - before)}`
      expect(compilePattern('\\bSECRET-[0-9]+\\b')(text)).toEqual([match])
      expect(compilePattern('^SECRET|\\BECRET-[0-9]+')(text)).toEqual([{ ...match, start: before + 1 }])
      expect(compilePattern('SECRET-[0-9]+$')(text.slice(0, match.end))).toEqual([match])
    }
  })

  it.each([
    ['(?=a)', 'without look-around'],
    ['(a)\\1', 'back-references'],
    ['a{2000}', 'invalid repeat count'],
    ['(a', 'missing closing )'],
    ['a)', 'unexpected )'],
    ['[b-a]', 'invalid character class range'],
    ['*', 'missing argument to repetition operator'],
    ['(((a{100}){100}){100})', 'invalid repeat count'],
    ['(abcdefghij){1000}', 'too large'],
    ['\\', 'trailing backslash'],
  ])('%s is refused with a reason', (source, reason) => {
    expect(() => compilePattern(source)).toThrow(reason)
  })
})
