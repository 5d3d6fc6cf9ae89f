import { describe, expect, test } from 'vitest'
import { systemClock, systemRandom } from '../../api/embedded/system.ts'

describe('the clock', () => {
  test('rejects a wait with the reason of its signal, and at once where it was aborted before', async () => {
    const reason = new Error('enough')
    const controller = new AbortController()
    const waiting = systemClock.sleep(60_000, controller.signal)
    controller.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    await expect(systemClock.sleep(60_000, controller.signal)).rejects.toBe(reason)
  })

  test('lets go of the signal when the time has come', async () => {
    const controller = new AbortController()
    await systemClock.sleep(0, controller.signal)
    controller.abort(new Error('late'))
    await systemClock.sleep(0)
  })
})

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
