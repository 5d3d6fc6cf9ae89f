import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkBatch } from '../../../domain/log/batch.ts'
import { blobsOf, MAX_INLINE_APPEND, MAX_INLINE_BODY } from '../../../domain/log/blobs.ts'
import { checkChain, checkNext } from '../../../domain/log/chain.ts'
import { Header, type SealedEvent } from '../../../domain/log/envelope.ts'
import { logIdOf, sealIdentity } from '../../../domain/log/identity.ts'
import { GENESIS, SALT_BYTES } from '../../../domain/log/seal.ts'
import { anyHeader } from '../../support/log/headers.ts'
import { bytesOf, NEW, Sealer, tipOf } from '../../support/log/sealing.ts'
import { property } from '../../support/property.ts'

const refusal = (code: string) => expect.objectContaining({ code })
const INVALID = refusal('APPEND_INVALID')
const stream = 'agent-a1'

describe('a batch', () => {
  const batch = new Sealer().batch(stream, NEW, [{}, {}, { blob: true }])
  const at = (index: number, change: (event: SealedEvent) => SealedEvent) =>
    batch.map((event, i) => (i === index ? change(event) : event))
  const header = (index: number, change: object) =>
    at(index, (event) => ({ ...event, header: { ...event.header, ...change } as Header }))

  test('as it was sealed is accepted', () => {
    expect(() => checkBatch(stream, -1, batch)).not.toThrow()
    expect(() => checkNext(null, batch)).not.toThrow()
  })

  test.each<[string, () => void]>([
    ['empty', () => checkBatch(stream, -1, [])],
    ['of another stream', () => checkBatch('agent-b', -1, batch)],
    ['for another place', () => checkBatch(stream, 0, batch)],
    ['after no revision', () => checkBatch(stream, -2, batch)],
    ['with a gap', () => checkBatch(stream, -1, [batch[0]!, batch[2]!])],
    ['going back in time', () => checkBatch(stream, -1, header(1, { timestamp: '2020-01-01T00:00:00.000Z' }))],
    ['on a day that is none', () => checkBatch(stream, -1, header(0, { timestamp: '2026-02-30T00:00:00.000Z' }))],
    ['with a NUL in an id', () => checkBatch(stream, -1, header(1, { commandId: 'a\0b' }))],
    ['with a lone surrogate', () => checkBatch(stream, -1, header(1, { trace: '\ud800' }))],
    ['of an unknown format', () => checkBatch(stream, -1, header(1, { format: 2 }))],
    [
      'with a body that is too short',
      () =>
        checkBatch(
          stream,
          -1,
          at(0, (e) => ({ ...e, body: new Uint8Array(1) })),
        ),
    ],
    [
      'with an inline body missing',
      () =>
        checkBatch(
          stream,
          -1,
          at(0, (e) => ({ ...e, body: null })),
        ),
    ],
    [
      'with a blob inline',
      () =>
        checkBatch(
          stream,
          -1,
          at(2, (e) => ({ ...e, body: new Uint8Array(7) })),
        ),
    ],
    [
      'with a malformed hash',
      () =>
        checkBatch(
          stream,
          -1,
          at(1, (e) => ({ ...e, hash: 'ff' })),
        ),
    ],
    [
      'with a forged id',
      () =>
        checkChain(
          GENESIS,
          at(1, (e) => ({ ...e, id: batch[0]!.id })),
        ),
    ],
    ['with a changed header', () => checkChain(GENESIS, header(2, { turn: 9 }))],
    ['chained elsewhere', () => checkNext({ hash: batch[0]!.hash, timestamp: '' }, batch)],
    ['older than its stream', () => checkNext({ hash: GENESIS, timestamp: '2027-01-01T00:00:00.000Z' }, batch)],
  ])('%s is refused', (_, check) => {
    expect(check).toThrow(INVALID)
  })

  test('over 16 MiB is too large', () => {
    const big = (size: number): SealedEvent => {
      const [event] = new Sealer().batch(stream, NEW, [{}])
      return {
        ...event!,
        body: new Uint8Array(SALT_BYTES + size),
        header: { ...event!.header, body: { ...event!.header.body, size } },
      }
    }
    expect(() => checkBatch(stream, -1, [big(16 * 1024 * 1024 - SALT_BYTES)])).not.toThrow()
    expect(() => checkBatch(stream, -1, [big(16 * 1024 * 1024 - SALT_BYTES + 1)])).toThrow(refusal('APPEND_TOO_LARGE'))
  })

  test('its header is refused exactly where the format refuses it', () => {
    const junk = fc.constantFrom<unknown>(
      '',
      0,
      -1,
      1.5,
      'x',
      null,
      true,
      {},
      '2026-13-01T00:00:00.000Z',
      'ab'.repeat(32),
    )
    const paths = [
      ['format'],
      ['type'],
      ['version'],
      ['turn'],
      ['timestamp'],
      ['commandId'],
      ['trace'],
      ['actor', 'kind'],
    ]
    const more = [
      ['actor', 'claimed'],
      ['driver', 'epoch'],
      ['driver', 'id'],
      ['digest', 'value'],
      ['digest', 'fold'],
    ]
    const inBody = ['place', 'hash', 'mediaType', 'size'].map((name) => ['body', name])
    const [sealed] = new Sealer().batch(stream, NEW, [{}])
    fc.assert(
      fc.property(anyHeader, fc.constantFrom(...paths, ...more, ...inBody), junk, (any, path, value) => {
        const h = structuredClone({ ...any, stream, revision: 0 }) as unknown as Record<string, Record<string, unknown>>
        const owner = (path.length === 1 ? h : h[path[0]!]) as Record<string, unknown> | undefined
        if (owner) owner[path.at(-1)!] = value
        const header = h as unknown as Header
        const size = header.body.size
        fc.pre(typeof size !== 'number' || size < 1000 || header.body.place === 'blob' || size !== Math.trunc(size))
        const body =
          header.body.place === 'inline' && typeof size === 'number' && size >= 0
            ? new Uint8Array(SALT_BYTES + size)
            : null
        const check = () => checkBatch(stream, -1, [{ ...sealed!, header, body }])
        if (Header.safeParse(header).success) expect(check).not.toThrow()
        else expect(check).toThrow(INVALID)
      }),
      property(500),
    )
  })
})

describe('what goes to the blob store', () => {
  const sizes = fc.array(fc.oneof(fc.nat({ max: 2 * MAX_INLINE_BODY }), fc.constant(MAX_INLINE_BODY)), {
    maxLength: 40,
  })

  test('is every body over 64 KiB, then the biggest, and no more than it must be', () => {
    fc.assert(
      fc.property(sizes, (list) => {
        const chosen = new Set(blobsOf(list))
        const inline = list.filter((_, index) => !chosen.has(index))
        const sum = inline.reduce((a, b) => a + b, 0)
        expect(sum).toBeLessThanOrEqual(MAX_INLINE_APPEND)
        expect(Math.max(0, ...inline)).toBeLessThanOrEqual(MAX_INLINE_BODY)
        const small = [...chosen].map((index) => list[index]!).filter((size) => size <= MAX_INLINE_BODY)
        if (small.length === 0) return
        expect(Math.min(...small)).toBeGreaterThanOrEqual(Math.max(0, ...inline))
        expect(sum + Math.min(...small)).toBeGreaterThan(MAX_INLINE_APPEND)
      }),
      property(300),
    )
  })
})

describe("a log's identity", () => {
  test('is drawn from its random bytes and read back', () => {
    const identity = sealIdentity(bytesOf('log', 26), '2026-01-01T00:00:00.000Z')
    expect(() => checkBatch('log-meta', -1, [identity])).not.toThrow()
    expect(() => checkNext(null, [identity])).not.toThrow()
    expect(logIdOf(identity)).toMatch(/^[0-9a-z]{16}$/)
    expect(logIdOf(sealIdentity(bytesOf('other', 26), '2026-01-01T00:00:00.000Z'))).not.toBe(logIdOf(identity))
  })

  test('is missed where the first event is another', () => {
    const [other] = new Sealer().batch('log-meta', NEW, [{}])
    expect(() => logIdOf(other)).toThrow(refusal('LOG_CORRUPT'))
    expect(() => logIdOf(undefined)).toThrow(refusal('LOG_CORRUPT'))
    expect(tipOf([other!]).revision).toBe(0)
  })
})
