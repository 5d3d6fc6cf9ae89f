import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fromTagged, toTagged } from '../../../api/library/ai-kit/tagged-json.ts'
import type { Json } from '../../../domain/log/json.ts'
import { property } from '../../support/property.ts'

const name = fc.oneof(fc.constantFrom('$bytes', '$date', '$url', '$value'), fc.string())
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<unknown>(null, true, 1, 'x', new Date(0), new URL('http://a/'), new Uint8Array([1, 2])),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 2, noNullPrototype: true }),
  ),
}))

it('gives back each value, also objects that look like tags', () => {
  fc.assert(
    fc.property(value, (given) => {
      const json = JSON.parse(JSON.stringify(toTagged(given))) as Json
      expect(fromTagged(json)).toEqual(given)
    }),
    property(300),
  )
})

it('takes the JSON form of an object that has one', () => {
  expect(toTagged({ amount: { toJSON: () => ({ cents: 5 }) } })).toEqual({ amount: { cents: 5 } })
})
