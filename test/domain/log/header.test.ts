import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Header } from '../../../domain/log/envelope.ts'
import { isHeader } from '../../../domain/log/header.ts'
import { anyHeader } from '../../support/log/headers.ts'
import { property } from '../../support/property.ts'

describe('a header', () => {
  test('is told from what is none as its schema tells them, whichever member is changed, lost or added', () => {
    const value = fc.constantFrom<unknown[]>(undefined, null, '', 'x', 'a\0b', '\ud800', 0, 1, -1, 0.5, true, {}, [])
    const name = fc.constantFrom('claimed', 'epoch', 'fold', 'hash', 'id', 'kind', 'place', 'size', 'value', 'other')
    fc.assert(
      fc.property(anyHeader, fc.nat(), name, value, fc.nat(4), (header, n, inner, put, part) => {
        const h = structuredClone(header) as unknown as Record<string, unknown>
        const names = [...Object.keys(h), 'driver', 'digest', 'other']
        const target = [h, h.actor, h.body, h.driver, h.digest][part]
        if (part === 0) h[names[n % names.length]!] = put
        else if (typeof target === 'object' && target !== null) Object.assign(target, { [inner]: put })
        expect(isHeader(h as unknown as Header)).toBe(Header.safeParse(h).success)
      }),
      property(2000),
    )
  })
})
