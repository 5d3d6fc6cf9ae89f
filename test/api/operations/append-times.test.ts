import { expect, test } from 'vitest'
import { AppendTimes } from '../../../api/operations/metrics/append-times.ts'
import { metricText } from '../../../api/operations/metrics/metric.ts'
import type { EventLog } from '../../../domain/ports/index.ts'

/** A log whose appends end when the test says so. */
function slowLog() {
  const ends: PromiseWithResolvers<{ position: number }>[] = []
  const asked: unknown[][] = []
  const append: EventLog['append'] = (...args) => {
    asked.push(args)
    ends.push(Promise.withResolvers())
    return ends.at(-1)!.promise
  }
  return { log: { append, logId: 'a' } as unknown as EventLog, ends, asked }
}

const countIn = (times: AppendTimes) =>
  Number(/^keepup_append_seconds_count (\d+)$/m.exec(metricText(times.metric))![1])

test('an append counts at its end, also a refused one, and reaches the log and its writer unchanged', async () => {
  const times = new AppendTimes()
  const { log, ends, asked } = slowLog()
  const measured = times.measured(log)
  expect([measured.logId, countIn(times)]).toEqual(['a', 0])
  const [first, second] = [measured.append('s', -1, []), measured.append('s', 0, [], 5)]
  expect([asked, countIn(times)]).toEqual([
    [
      ['s', -1, []],
      ['s', 0, [], 5],
    ],
    0,
  ])
  ends[0]!.resolve({ position: 7 })
  expect([await first, countIn(times)]).toEqual([{ position: 7 }, 1])
  const refused = new Error('refused')
  ends[1]!.reject(refused)
  await expect(second).rejects.toBe(refused)
  expect(countIn(times)).toBe(2)
  const { type, samples } = times.metric
  expect([type, samples]).toEqual(['histogram', [[{}, expect.objectContaining({ count: 2 })]]])
  expect(samples[0]![1]).toHaveProperty('seconds', expect.any(Number))
})
