import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { knownTexts } from '../../../domain/secrets/known-values.ts'

if (process.env.FC_SEED) fc.configureGlobal({ seed: Number(process.env.FC_SEED) })

const over = (letters: string, min: number, max: number) =>
  fc.string({ unit: fc.constantFrom(...letters), minLength: min, maxLength: max })

describe('finding known texts', () => {
  // Few texts are first looked for one by one; many at once only.
  it.each([0, 70])('covers exactly the characters that a plain search covers, beside %d others', (more) => {
    const others = Array.from({ length: more }, (_, n) => `x${n}`)
    fc.assert(
      fc.property(fc.array(over('abc', 1, 5), { maxLength: 6 }), over('abc', 0, 30), (known, text) => {
        const covered = new Set<number>()
        for (const one of known) {
          for (let at = text.indexOf(one); at >= 0; at = text.indexOf(one, at + 1)) {
            for (let i = at; i < at + one.length; i++) covered.add(i)
          }
        }
        const spans = knownTexts([...known, ...others]).find(text)
        const found = spans.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, i) => start + i))
        expect(found).toEqual([...covered].sort((a, b) => a - b))
      }),
      { numRuns: 1_000 },
    )
  })

  it('knows how much of the end may go on to be one of them', () => {
    fc.assert(
      fc.property(fc.array(over('ab', 1, 6), { maxLength: 5 }), over('ab', 0, 12), (known, text) => {
        const begun = (length: number) => known.some((one) => one.startsWith(text.slice(text.length - length)))
        const longest = Array.from({ length: text.length + 1 }, (_, i) => text.length - i).find(
          (n) => n === 0 || begun(n),
        )
        expect(knownTexts(known).pending(text)).toBe(longest)
      }),
      { numRuns: 1_000 },
    )
  })
})
