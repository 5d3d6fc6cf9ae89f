import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonFault } from '../../domain/log/json-fault.ts'
import { jsonSize } from '../../domain/log/json-size.ts'

if (process.env.FC_SEED) fc.configureGlobal({ seed: Number(process.env.FC_SEED) })

// Faults planted: an escape is taken for one character; a control character in a string is taken; a value's text counts.

const parses = (text: string) => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const BROKEN = ['"\\x"', '"\\u12"', '"\\u12G4"', '"a\nb"', '"a', '"\\"', '"\\', '["a\\\\"', '"\\u0041\\"']
const WHOLE = ['"\\\\"', '"\\u0041"', '"\\"\\\\\\""', '"\\/"', '["\\\\","\\""]', '{"a\\"":"\\\\"}', '"\u2028"']

test.each(BROKEN)('%j is no JSON', (text) => expect(jsonFault(text)).toMatchObject({ line: 1 }))
test.each(WHOLE)('%j is JSON', (text) => expect(jsonFault(text)).toBeNull())

test('a text has a fault exactly where the engine does not parse it', () => {
  const pieces = fc.array(fc.constantFrom('"', '\\', 'u0041', '[', ']', ',', 'a', '\n', '1', ' '), { maxLength: 12 })
  fc.assert(
    fc.property(pieces, (parts) => {
      const text = parts.join('')
      expect(jsonFault(text) === null).toBe(parses(text))
    }),
    { numRuns: 2_000 },
  )
})

test('values and depth are counted outside of texts, whatever these hold', () => {
  const text = fc.string({ unit: fc.constantFrom('"', '\\', '[', ',', '{', 'a'), maxLength: 6 })
  fc.assert(
    fc.property(fc.array(fc.array(text, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 }), (value) => {
      expect(jsonSize(JSON.stringify(value))).toEqual({ depth: 2, values: 1 + value.length + value.flat().length })
    }),
  )
})

test('measuring stops where a text has too many values or levels', () => {
  const most = { depth: 3, values: 5 }
  expect(jsonSize('[[[1]]]', most)).toEqual({ depth: 3, values: 4 })
  expect(jsonSize('[[[[[[[1]]]]]]]', most)).toEqual({ depth: 4, values: 5 })
  expect(jsonSize('[1,1,1,1]', most)).toEqual({ depth: 1, values: 5 })
  expect(jsonSize('[1,1,1,1,1,1,1,1]', most)).toEqual({ depth: 1, values: 6 })
})
