import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { byteLength, decodeText, headAndTail, headOf, tailOf } from '../../domain/calls/truncate.ts'
import { wellFormed } from '../../domain/log/well-formed.ts'

if (process.env.FC_SEED) fc.configureGlobal({ seed: Number(process.env.FC_SEED) })

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom('a', 'é', '漢', '😀', '\n') }))

describe('bounded text', () => {
  it('is cut to the longest head and tail that fit and do not cut a character', () => {
    fc.assert(
      fc.property(text, fc.nat(40), (raw, bytes) => {
        const s = wellFormed(raw)
        const chars = [...s]
        const head = headOf(s, bytes)
        const tail = tailOf(s, bytes)
        expect([s.startsWith(head), s.endsWith(tail), head.isWellFormed(), tail.isWellFormed()]).not.toContain(false)
        expect(Math.max(byteLength(head), byteLength(tail))).toBeLessThanOrEqual(bytes)
        const longer = chars.slice(0, [...head].length + 1).join('')
        if (head !== s) expect(byteLength(longer)).toBeGreaterThan(bytes)
        if (tail !== s)
          expect(byteLength(chars.slice(chars.length - [...tail].length - 1).join(''))).toBeGreaterThan(bytes)
      }),
    )
  })

  it('tells how much was left out and how to see it', () => {
    const shown = headAndTail(
      `${'a'.repeat(50)}\n${'b'.repeat(5000)}\n${'c'.repeat(50)}`,
      300,
      (head) => `ask again after ${head.length}`,
    )
    expect(shown.startsWith('a'.repeat(50))).toBe(true)
    const left = Number(/\[… (\d+) of 5102 bytes left out; ask again after 50 …\]/.exec(shown)?.[1])
    expect(byteLength(shown.replace(/\n\[….*…\]\n/, ''))).toBe(5102 - left)
    expect(shown.endsWith('c'.repeat(50))).toBe(true)
  })

  it('decodes any bytes to well-formed text without NUL', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const s = decodeText(bytes)
        expect(s.isWellFormed() && !s.includes('\0')).toBe(true)
      }),
    )
  })
})
