import { describe, expect, test } from 'vitest'
import { systemRandom } from '../../../api/process/host/random.ts'

describe('randomness', () => {
  test('comes in the length that was asked for, and never twice', () => {
    const seen = new Set<string>()
    for (let n = 0; n < 2000; n++) {
      const bytes = systemRandom.bytes(16)
      expect(bytes).toHaveLength(16)
      seen.add(Buffer.from(bytes).toString('hex'))
    }
    expect(seen.size).toBe(2000)
    expect(systemRandom.bytes(5000)).toHaveLength(5000)
  })

  test('is not shared with what was given out before', () => {
    const first = systemRandom.bytes(16)
    const before = Buffer.from(first).toString('hex')
    systemRandom.bytes(16).fill(0)
    expect(Buffer.from(first).toString('hex')).toBe(before)
    expect(first.buffer.byteLength).toBe(16)
  })
})
