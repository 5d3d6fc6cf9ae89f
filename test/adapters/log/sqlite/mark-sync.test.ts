import { closeSync, fstatSync, type fsync, openSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { MarkWriter, markOf, readMark } from '../../../../adapters/sqlite/log/mark.ts'
import { tempFolder } from '../../../support/folders.ts'

// An update of the mark is synced at most one second later (DESIGN, a lost end is never silent).

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** A mark whose fsyncs end when they are told to. */
function marked() {
  const folder = tempFolder()
  const running: { file: number; ends: (error: Error | null) => void }[] = []
  let begun = 0
  const sync = ((file: number, ends: (error: Error | null) => void) => {
    begun++
    running.push({ file, ends })
  }) as unknown as typeof fsync
  const mark = MarkWriter.open(folder, '0123456789abcdef', sync)
  return {
    folder,
    mark,
    update: (position: number) => mark.update(position, 'a'.repeat(64)),
    begun: () => begun,
    running,
    end: (error: Error | null = null) => running.shift()!.ends(error),
  }
}

test('an update during an fsync that is still at work a second later is synced when that one has ended', () => {
  const { mark, update, begun, end } = marked()
  update(1)
  vi.advanceTimersByTime(1000)
  expect(begun()).toBe(1)
  update(2)
  vi.advanceTimersByTime(1500)
  expect(begun()).toBe(1)
  end()
  expect(begun()).toBe(2)
  end()
  vi.advanceTimersByTime(5000)
  expect(begun()).toBe(2)
  mark.close()
})

test('an update during a short fsync is synced a second after it was made', () => {
  const { mark, update, begun, end } = marked()
  update(1)
  vi.advanceTimersByTime(1000)
  update(2)
  end()
  vi.advanceTimersByTime(999)
  expect(begun()).toBe(1)
  vi.advanceTimersByTime(1)
  expect(begun()).toBe(2)
  end()
  mark.close()
})

test('a failed fsync is repeated, with the record written again', () => {
  const { mark, update, begun, end, folder } = marked()
  update(1)
  vi.advanceTimersByTime(1000)
  // A failed disk may have kept only a part.
  writeFileSync(markOf(folder), Buffer.alloc(256))
  end(new Error('EIO'))
  vi.advanceTimersByTime(1000)
  expect(begun()).toBe(2)
  end()
  mark.close()
  expect(readMark(folder)).toMatchObject({ state: 'read', position: 1 })
})

test('the file stays open until the fsync that is at work has ended', () => {
  const { mark, update, end, running, folder } = marked()
  update(1)
  vi.advanceTimersByTime(1000)
  const { file } = running[0]!
  mark.close()
  expect(fstatSync(file).size).toBe(256)
  end()
  expect(() => fstatSync(file)).toThrow(/EBADF/)
  closeSync(openSync(markOf(folder), 'r'))
})
