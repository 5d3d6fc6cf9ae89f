import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonValueFilter } from '../../../domain/secrets/json-stream.ts'
import { secretValuesInJson } from '../../../domain/secrets/key-names.ts'

function filtered(text: string, cuts: readonly number[] = []): string {
  const filter = jsonValueFilter((key, value) => `<${key}:${value.length}>`)
  const at = [...cuts.map((cut) => cut % (text.length + 1)), 0, text.length].sort((a, b) => a - b)
  return at.map((from, i) => filter.push(text.slice(from, at[i + 1]))).join('') + filter.end()
}

/** The whole text, with all that {@link secretValuesInJson} finds replaced. */
function asWhole(text: string): string {
  let out = ''
  let from = 0
  for (const { start, end, value } of secretValuesInJson(text)) {
    const before = /"((?:[^"\\]|\\.)*)"\s*:\s*$/.exec(text.slice(0, start))!
    out += `${text.slice(from, start)}${JSON.stringify(`<${JSON.parse(`"${before[1]}"`)}:${value.length}>`)}`
    from = end
  }
  return out + text.slice(from)
}

describe('values under secret keys in JSON that comes in pieces', () => {
  it('are hidden as in the whole, wherever the pieces part', () => {
    const key = fc.constantFrom('password', 'API_KEY', 'name', 'to"ken', 'x'.repeat(300))
    const { json } = fc.letrec((tie) => ({
      json: fc.oneof({ depthSize: 'small' }, tie('object'), fc.array(tie('leaf'), { maxLength: 3 })),
      leaf: fc.oneof(fc.string(), fc.integer(), fc.constant(null), tie('object')),
      object: fc.dictionary(key, tie('leaf'), { maxKeys: 4 }),
    }))
    fc.assert(
      fc.property(json, fc.array(fc.nat(), { maxLength: 6 }), fc.constantFrom(0, 2), (value, cuts, indent) => {
        const text = JSON.stringify(value, null, indent)
        expect(filtered(text, cuts)).toBe(asWhole(text))
      }),
    )
  })

  it('of other text are left: it is free text', () => {
    for (const text of ['the "password": "hunter2"', '"password": "hunter2"', '', ' ', '12'])
      expect(filtered(text, [3])).toBe(text)
  })

  it('that has not ended is told as it came', () => {
    expect(filtered('{"password": "hunt', [2, 9])).toBe('{"password": "hunt')
  })
})
