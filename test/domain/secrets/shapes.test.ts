import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findShapes } from '../../../domain/secrets/known-secret-shapes.ts'

if (process.env.FC_SEED) fc.configureGlobal({ seed: Number(process.env.FC_SEED) })

describe('shapes of secrets that are written in any case', () => {
  const cased = (text: string) =>
    fc
      .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
      .map((upper) => [...text].map((letter, i) => (upper[i] ? letter.toUpperCase() : letter.toLowerCase())).join(''))
  // Letters whose lower case is longer, or an ASCII letter, among them.
  const before = fc.string({ unit: fc.constantFrom('\u0130', '\u212a', 'ß', ' ', '.', 'Σ'), maxLength: 10 })

  it.each([
    ['bearer ', 'abcdef123456'],
    ['aws_secret_access_key=', 'A'.repeat(40)],
  ])('are found at their place: %s', (name, secret) => {
    fc.assert(
      fc.property(before, cased(name), (text, said) => {
        const start = text.length + name.length
        expect(findShapes(`${text}${said}${secret}`)).toEqual([{ start, end: start + secret.length }])
      }),
      { numRuns: 200 },
    )
  })
})
