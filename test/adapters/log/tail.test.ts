import { describe, expect, test } from 'vitest'
import { Tail } from '../../../adapters/sqlite/log/tail.ts'
import { NEW, Sealer, type Tip, tipOf } from '../../support/log/sealing.ts'

const sealer = new Sealer('tail')

/** A tail over a file whose last position is what the test says it is. */
function tail(last = 1) {
  const file = { last }
  return { file, tail: new Tail(() => file.last) }
}

const append = (position: number, count = 1, tip: Tip = NEW, stream = 'agent-a') => ({
  stream,
  batch: sealer.batch(
    stream,
    tip,
    Array.from({ length: count }, () => ({ body: { text: 'x'.repeat(2000) } })),
  ),
  position,
})

describe('the tail of a log', () => {
  test('knows nothing before the first append: the file is asked', () => {
    const { tail: fresh } = tail()
    expect(fresh.from(1)).toBeNull()
    expect(fresh.head('agent-a')).toBeNull()
  })

  test('gives the appended events from any position on, with the head of their stream', () => {
    const { tail: some, file } = tail()
    const first = append(3, 2)
    file.last = 3
    some.add(first)
    const second = append(4, 1, tipOf(first.batch))
    some.add(second)
    expect(some.from(2)?.map(({ position, hash }) => [position, hash])).toEqual(
      [...first.batch, ...second.batch].map(({ hash }, index) => [2 + index, hash]),
    )
    expect(some.from(4)).toHaveLength(1)
    expect(some.from(5)).toEqual([])
    expect(some.from(1)).toBeNull()
    expect(some.head('agent-a')).toMatchObject({ revision: 2, hash: second.batch[0]!.hash })
  })

  test('is not used again while the file holds more than the acknowledged events', () => {
    const { tail: some, file } = tail()
    file.last = 2
    some.add(append(2))
    some.forget()
    expect(some.from(3)).toBeNull()
    // Two appends were written, neither answered; the first of them is sent again.
    file.last = 4
    some.add(append(3))
    expect(some.from(4)).toBeNull()
    some.add(append(4))
    expect(some.from(4)).toHaveLength(1)
    expect(some.from(5)).toEqual([])
  })

  test('is not used until an append is answered that empties bodies', async () => {
    const { tail: some, file } = tail()
    file.last = 2
    some.add(append(2))
    const answered = Promise.withResolvers<string>()
    const rested = some.rest(answered.promise)
    file.last = 4
    // Another append, and the erasure itself.
    for (const position of [3, 4]) some.add(append(position))
    expect([some.last, some.from(3), some.head('agent-a')]).toEqual([null, null, null])
    answered.resolve('done')
    expect(await rested).toBe('done')
    file.last = 5
    some.add(append(5))
    expect(some.from(5)).toHaveLength(1)
    expect(some.from(3)).toBeNull()
  })

  test('neither hides a gap nor takes an old append for a new one', () => {
    const { tail: some, file } = tail()
    file.last = 2
    some.add(append(2))
    some.add(append(7, 2))
    expect(some.from(3)).toBeNull()
    expect(some.from(6)).toHaveLength(2)
    some.add(append(2))
    expect(some.from(6)).toHaveLength(2)
    expect(some.from(8)).toEqual([])
  })

  test('keeps the events that a follower has not read, and drops those that all have read', () => {
    const { tail: some, file } = tail()
    file.last = 2
    const [slow, fast] = [some.follow(2), some.follow(2)]
    const add = (from: number, to: number) => {
      for (let position = from; position <= to; position++) some.add(append(position))
    }
    add(2, 901)
    expect([some.count(2), some.from(2)?.length]).toEqual([900, 900])
    fast.next = 902
    add(902, 902)
    expect(some.from(2)).toHaveLength(901)
    slow.next = 502
    add(903, 903)
    expect([some.from(501), some.from(502)?.length]).toEqual([null, 402])
    some.unfollow(slow)
    add(904, 904)
    expect([some.from(901), some.from(902)?.length, some.count(905)]).toEqual([null, 3, 0])
  })

  test('keeps the newest events only of those that a slow follower has not read', () => {
    const { tail: some, file } = tail()
    file.last = 2
    some.follow(2)
    for (let n = 0; n < 3_000; n++) some.add(append(2 + n))
    expect(some.from(2)).toBeNull()
    expect(some.from(3_001)).toHaveLength(1)
    expect(some.from(2_602)).toHaveLength(400)
    const huge = { ...append(3_002), batch: sealer.batch('agent-a', NEW, [{ body: 'y'.repeat(9_000_000) }]) }
    some.add(huge)
    expect(some.from(3_002)).toBeNull()
    expect(some.from(3_003)).toEqual([])
    some.add(append(3_003))
    expect(some.from(3_003)).toHaveLength(1)
  })

  test('keeps at most 64 events that nobody follows', () => {
    const { tail: some, file } = tail()
    file.last = 2
    for (let position = 2; position <= 700; position++) some.add(append(position))
    const kept = Array.from({ length: 700 }, (_, n) => some.count(n + 1) ?? 0)
    expect(Math.max(...kept)).toBeLessThanOrEqual(64)
  })
})
