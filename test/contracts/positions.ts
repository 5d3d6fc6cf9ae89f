import { expect, test } from 'vitest'
import type { Positions } from '../../domain/ports/index.ts'

const cursor = { logId: 'l1', position: 7, hash: 'ab'.repeat(32) }

/** The promises of every Positions. `open`: a store without positions. */
export function positionsContract(open: () => Promise<Positions>): void {
  test('a position is what its last claimant wrote, and others are separate', async () => {
    const positions = await open()
    expect(await positions.read('a')).toBeNull()
    expect(await positions.claim('a')).toEqual({ cursor: null, epoch: 1, note: null })
    expect(await positions.write('a', { cursor, epoch: 1, note: 'well' })).toBe(true)
    expect(await positions.read('a')).toEqual({ cursor, epoch: 1, note: 'well' })
    expect(await positions.read('b')).toBeNull()
    expect(await positions.write('b', { cursor, epoch: 1, note: null })).toBe(false)
  })

  test('a write from another cursor than the stored one is refused', async () => {
    const positions = await open()
    const { epoch } = await positions.claim('a')
    const later = { ...cursor, position: 8 }
    expect(await positions.write('a', { cursor, epoch, note: null }, later)).toBe(false)
    expect(await positions.write('a', { cursor, epoch, note: null }, null)).toBe(true)
    expect(await positions.write('a', { cursor: later, epoch, note: null }, null)).toBe(false)
    expect(await positions.write('a', { cursor: later, epoch, note: null }, cursor)).toBe(true)
    expect((await positions.read('a'))?.cursor).toEqual(later)
  })

  test('positions are listed by the beginning of their names, in order', async () => {
    const positions = await open()
    expect(await positions.list('c:')).toEqual(new Map())
    for (const name of ['c:b', 'c:a', 'd:a', 'c%a']) await positions.claim(name)
    await positions.write('c:a', { cursor, epoch: 1, note: 'well' })
    const listed = await positions.list('c:')
    expect([...listed.keys()]).toEqual(['c:a', 'c:b'])
    expect(listed.get('c:a')).toEqual({ cursor, epoch: 1, note: 'well' })
  })

  test('each claim has the next epoch, and an older one is refused', async () => {
    const positions = await open()
    const claims = await Promise.all(Array.from({ length: 10 }, () => positions.claim('a')))
    expect(claims.map(({ epoch }) => epoch).sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    for (const { epoch } of claims) expect(await positions.write('a', { cursor, epoch, note: null })).toBe(epoch === 10)
    expect(await positions.claim('a')).toEqual({ cursor, epoch: 11, note: null })
  })
}
