import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { type Blobs, StreamVerifier } from '../../../domain/log/verify.ts'
import { NEW, Sealer, tipOf } from '../../support/log/sealing.ts'
import { property } from '../../support/property.ts'

const stream = 'agent-a1'

function verify(events: readonly RecordedEvent[], blobs?: Blobs, page = 3) {
  const verifier = new StreamVerifier(stream)
  for (let at = 0; at < events.length; at += page) verifier.page(events.slice(at, at + page), blobs)
  return verifier.result()
}

function sealed(count: number): RecordedEvent[] {
  const drafts = Array.from({ length: count }, (_, n) => ({ body: { n, text: 'x'.repeat(n) } }))
  return new Sealer().batch(stream, NEW, drafts).map((event, index) => ({ ...event, position: index + 1 }))
}

/** A stream whose event 1 was erased by its event 3. */
function withErasure(fact: object): RecordedEvent[] {
  const sealer = new Sealer()
  const first = sealer.batch(stream, NEW, [{}, { body: { secret: 'x' } }, {}])
  const named = { revision: 1, bodyHash: first[1]!.header.body.hash, ...fact }
  const body = { code: 'other', reason: 'asked for', ...fact, bodies: [{ revision: 0, bodyHash: 'x' }, named] }
  const all = [...first, ...sealer.batch(stream, tipOf(first), [{ type: 'erased', body }])]
  return all.map((event, index) => ({
    ...event,
    position: index + 1,
    ...(index === 1 && { body: null, erased: true as const }),
  }))
}

describe('a stream', () => {
  test('as it was sealed has no problem, in pages of any size', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 1, max: 7 }), (count, page) => {
        const events = sealed(count)
        const result = verify(events, undefined, page)
        expect(result).toMatchObject({ ok: true, events: count, problems: [], erased: [], unfetched: [] })
        expect(result.head).toBe(events.at(-1)?.hash ?? NEW.hash)
      }),
      property(50),
    )
  })

  test('with any one thing changed names that revision', () => {
    const changes: [string, (event: RecordedEvent) => RecordedEvent][] = [
      ['CHAIN', (e) => ({ ...e, header: { ...e.header, commandId: `${e.header.commandId}x` } })],
      ['CHAIN', (e) => ({ ...e, hash: e.hash.replace(/^./, (c) => (c === '0' ? '1' : '0')) })],
      ['CHAIN', (e) => ({ ...e, id: e.id.replace(/^./, (c) => (c === '0' ? '1' : '0')) })],
      ['BODY', (e) => ({ ...e, body: e.body!.map((byte, at) => (at === 0 ? byte ^ 1 : byte)) })],
      ['BODY', (e) => ({ ...e, body: e.body!.slice(1) })],
      ['BODY', (e) => ({ ...e, body: null })],
      ['BODY', (e) => ({ ...e, body: null, erased: true })],
      ['TIME', (e) => ({ ...e, header: { ...e.header, timestamp: '2020-01-01T00:00:00.000Z' } })],
      ['SHAPE', (e) => ({ ...e, header: { ...e.header, format: 2 as 1 } })],
      ['SHAPE', (e) => ({ ...e, header: { ...e.header, stream: 'agent-b' } })],
      ['SHAPE', (e) => ({ ...e, header: { ...e.header, turn: -1 } })],
    ]
    const events = sealed(9)
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), fc.constantFrom(...changes), (at, [code, change]) => {
        const result = verify(events.map((event, index) => (index === at ? change(event) : event)))
        expect(result.ok).toBe(false)
        expect(result.problems).toContainEqual(expect.objectContaining({ revision: at, code }))
        // The stored hash before an event is what it is held against: one altered event condemns at most its successor.
        expect(result.problems.every((problem) => problem.revision === at || problem.revision === at + 1)).toBe(true)
      }),
      property(200),
    )
  })

  test.each([0, 4, 8])('that lacks event %i of nine says so, unless it is the last', (missing) => {
    const result = verify(sealed(9).filter((_, index) => index !== missing))
    if (missing === 8) expect(result).toMatchObject({ ok: true, events: 8 })
    else
      expect(result.problems.map(({ code, revision }) => [code, revision])).toEqual([
        ['SHAPE', missing + 1],
        ['CHAIN', missing + 1],
      ])
  })
})

describe('an emptied body', () => {
  test('is "erased" where a later fact names it', () => {
    expect(verify(withErasure({}))).toMatchObject({ ok: true, erased: [{ revision: 1, reason: 'asked for' }] })
  })

  test.each([{ revision: 2 }, { bodyHash: '0'.repeat(64) }, { reason: 7 }])(
    'is broken where the fact says %j',
    (fact) => {
      const result = verify(withErasure(fact))
      expect(result.erased).toEqual([])
      expect(result.problems).toEqual([expect.objectContaining({ revision: 1, code: 'BODY' })])
    },
  )
})

describe('a body in the blob store', () => {
  const sealer = new Sealer()
  const inline = sealer.body({ n: 1 })
  const events = new Sealer().batch(stream, NEW, [{ body: { n: 1 }, blob: true }])
  const recorded = events.map((event) => ({ ...event, position: 1 }))

  test('is checked where it is given, told where it was not fetched, a problem where it is missing', () => {
    expect(verify(recorded, new Map([[0, inline.bytes]]))).toMatchObject({ ok: true, unfetched: [] })
    expect(verify(recorded)).toMatchObject({ ok: true, unfetched: [0] })
    expect(verify(recorded, new Map([[0, null]])).problems).toMatchObject([{ code: 'BLOB', revision: 0 }])
    expect(verify(recorded, new Map([[0, new Uint8Array(7)]])).problems).toMatchObject([{ code: 'BLOB' }])
  })
})
