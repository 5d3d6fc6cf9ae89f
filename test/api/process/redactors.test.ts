import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sharedRedactor } from '../../../api/process/host/redactors.ts'
import { createRedactor } from '../../../domain/secrets/redactor.ts'
import { law } from '../../support/laws.ts'

// Runs share a redactor only where it hides the same.

const key = fc.constantFrom(0, 1).map((byte) => new Uint8Array(32).fill(byte))
const known = fc.uniqueArray(fc.constantFrom('value-one', 'value-two', 'value-one","value-two'), { maxLength: 3 })
const patterns = fc.uniqueArray(fc.constantFrom('id-\\d+', 'nr-\\d+', 'value-two'), { maxLength: 3 })
const TEXT = 'value-one value-two value-one","value-two id-17 nr-4'

test('a shared redactor hides what one of its own would hide, whichever were asked for before', async () => {
  const asked = fc.array(fc.record({ key, known, patterns }), { minLength: 1, maxLength: 60 })
  await law(asked, 20, (all) => {
    for (const options of all)
      expect(sharedRedactor(options).redactText(TEXT)).toEqual(createRedactor(options).redactText(TEXT))
  })
})

test('it is made once for the same secrets', () => {
  const options = { key: new Uint8Array(32), known: ['value-one'], patterns: [] }
  expect(sharedRedactor({ ...options, known: [...options.known] })).toBe(sharedRedactor(options))
  expect(sharedRedactor({ ...options, patterns: ['id-\\d+'] })).not.toBe(sharedRedactor(options))
})

test('few are kept: each takes as much memory as its secrets have forms, and a vault changes now and then', () => {
  const of = (secret: string) => sharedRedactor({ key: new Uint8Array(32), known: [secret], patterns: [] })
  const first = of('value-of-day-1')
  for (let day = 2; day <= 6; day++) of(`value-of-day-${day}`)
  expect(of('value-of-day-1')).not.toBe(first)
})
