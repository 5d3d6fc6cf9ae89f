import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { printing, printPage, setLoading } from '../../../api/web/parts/printing.ts'

describe('printing', () => {
  let printed: boolean[]
  beforeEach(() => {
    vi.useFakeTimers()
    printed = []
    vi.stubGlobal('print', () => void printed.push(printing.value))
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
  })

  it('waits for what is loading, and is over when print returns, also without an event of the browser', async () => {
    const part = {}
    setLoading(part, true)
    const done = printPage()
    await vi.advanceTimersByTimeAsync(5_000)
    expect([printing.value, printed]).toEqual([true, []])
    setLoading(part, false)
    await vi.advanceTimersByTimeAsync(1_000)
    await done
    expect([printing.value, printed]).toEqual([false, [true]])
  })

  it('prints what has loaded if a part never ends loading', async () => {
    const part = {}
    setLoading(part, true)
    const done = printPage()
    await vi.advanceTimersByTimeAsync(70_000)
    await done
    setLoading(part, false)
    expect([printing.value, printed]).toEqual([false, [true]])
  })
})
