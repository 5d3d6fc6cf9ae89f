import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalBytes, canonicalHeader } from '../../../domain/log/canonical.ts'
import { formatCursor, parseCursor } from '../../../domain/log/cursor.ts'
import { Header } from '../../../domain/log/envelope.ts'
import { base32, runIdOf } from '../../../domain/log/ids.ts'
import { appendRoot, EMPTY_ROOT, type Root } from '../../../domain/log/root.ts'
import { bodyHash, chainHash, eventId, GENESIS, saltBody, seal, sealedBody } from '../../../domain/log/seal.ts'
import { anyHeader } from '../../support/log/headers.ts'
import { property } from '../../support/property.ts'

const hash64 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('hex'))

describe('canonical bytes', () => {
  test('of a header are RFC 8785, whatever the order of its keys', () => {
    fc.assert(
      fc.property(anyHeader, (header) => {
        expect(Header.safeParse(header).success).toBe(true)
        expect(canonicalHeader(header)).toBe(new TextDecoder().decode(canonicalBytes(header)))
        const turned = Object.fromEntries(Object.entries(header).reverse()) as Header
        expect(canonicalHeader(turned)).toBe(canonicalHeader(header))
      }),
      property(300),
    )
  })

  test('are refused for what is not JSON', () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, undefined, 1n])
      expect(() => canonicalBytes(value)).toThrow()
  })
})

describe('sealing', () => {
  test('a hash commits to the previous hash, every header field and the body', () => {
    fc.assert(
      fc.property(anyHeader, anyHeader, hash64, hash64, (a, b, before, other) => {
        fc.pre(before !== other && canonicalHeader(a) !== canonicalHeader(b))
        expect(chainHash(before, a)).not.toBe(chainHash(before, b))
        expect(chainHash(before, a)).not.toBe(chainHash(other, a))
        const bytes = Buffer.concat([Buffer.from(before, 'hex'), canonicalBytes(a)])
        expect(chainHash(before, a)).toBe(createHash('sha256').update(bytes).digest('hex'))
      }),
      property(200),
    )
  })

  test('an id is a lower-case version 8 UUID made of the hash', () => {
    fc.assert(
      fc.property(hash64, (hash) => {
        const id = eventId(hash)
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
        const bare = id.replaceAll('-', '')
        const kept = (text: string) => text.slice(0, 12) + text.slice(13, 16) + text.slice(17)
        expect(kept(bare)).toBe(kept(hash.slice(0, 32)))
        expect(Number.parseInt(bare[16]!, 16) & 3).toBe(Number.parseInt(hash[16]!, 16) & 3)
      }),
      property(300),
    )
  })

  test('equal content under two salts has two hashes and two ids', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uint8Array({ minLength: 16, maxLength: 16 }), anyHeader, (body, salt, header) => {
        const other = salt.map((byte, index) => (index === 0 ? byte ^ 1 : byte))
        const stored = saltBody(body, salt)
        const [one, two] = [stored, saltBody(body, other)].map(({ header: about, bytes }) =>
          seal(GENESIS, { ...header, body: about }, bytes),
        )
        expect(Buffer.from(stored.bytes)).toEqual(Buffer.concat([salt, body]))
        expect(one!.header.body.hash).toBe(bodyHash(stored.bytes))
        expect(Buffer.from(sealedBody(one!.header.body, stored.bytes.slice())!)).toEqual(Buffer.from(body))
        expect(one!.header.body.hash).not.toBe(two!.header.body.hash)
        expect(one!.id).not.toBe(two!.id)
      }),
      property(100),
    )
  })
})

describe('ids', () => {
  test('base32 keeps every bit, and equal lengths sort like their bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.uint8Array({ maxLength: 40 }), (a, b) => {
        const text = base32(a)
        const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
        const bits = [...text].map((c) => alphabet.indexOf(c).toString(2).padStart(5, '0')).join('')
        expect([...a].map((byte) => byte.toString(2).padStart(8, '0')).join('')).toBe(bits.slice(0, a.length * 8))
        expect(bits.slice(a.length * 8)).toMatch(/^0{0,4}$/)
        const cut = b.slice(0, a.length)
        if (cut.length === a.length)
          expect(Math.sign(Buffer.compare(a, cut))).toBe(text === base32(cut) ? 0 : text < base32(cut) ? -1 : 1)
      }),
      property(300),
    )
  })

  test('run ids sort by birth', () => {
    const entropy = fc.uint8Array({ minLength: 8, maxLength: 8 })
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 47 }), fc.integer({ min: 1, max: 1e9 }), entropy, entropy, (t, dt, a, b) => {
        expect(runIdOf(t, a) < runIdOf(t + dt, b)).toBe(true)
        expect(runIdOf(t, a)).toHaveLength(23)
      }),
      property(300),
    )
  })
})

describe('cursors', () => {
  const position = fc.nat({ max: 9_999_999_999_999 })
  const cursor = fc.record(
    { logId: fc.stringMatching(/^[0-9a-z-]{1,36}$/), position, prepare: position, hash: hash64 },
    { requiredKeys: ['logId', 'position', 'hash'] },
  )

  test('come back from their text, which is safe in a URL', () => {
    fc.assert(
      fc.property(cursor, (c) => {
        expect(parseCursor(formatCursor(c))).toEqual(c)
        const text = formatCursor(c)
        expect(encodeURIComponent(text.replaceAll(':', ''))).toBe(text.replaceAll(':', ''))
      }),
      property(200),
    )
  })

  test('any other text is refused by name', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(() => parseCursor(text)).toThrow(expect.objectContaining({ code: 'CURSOR_INVALID' }))
      }),
      property(200),
    )
  })
})

describe('rolling roots', () => {
  const rolled = (root: Root, item: string) => appendRoot(root, item)
  test('commit to every item and its place; any split gives the same root', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1 }), fc.nat(), (items, at) => {
        const whole = items.reduce(rolled, EMPTY_ROOT)
        const cut = at % items.length
        const split = items.slice(cut).reduce(rolled, items.slice(0, cut).reduce(rolled, EMPTY_ROOT))
        expect(split).toEqual(whole)
        expect(whole.count).toBe(items.length)
        const changed = items.map((item, index) => (index === cut ? `${item}!` : item))
        expect(changed.reduce(rolled, EMPTY_ROOT).hash).not.toBe(whole.hash)
      }),
      property(200),
    )
  })
})
