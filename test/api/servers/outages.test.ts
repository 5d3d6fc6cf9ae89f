import { expect, test } from 'vitest'
import type { Readiness } from '../../../api/runs/readiness.ts'
import { tellOutages } from '../../../api/servers/outages.ts'

/** What is told while each look finds the next of these; the clock goes on as it is slept. */
async function toldOf(looks: readonly Partial<Readiness>[]): Promise<string[]> {
  let now = 0
  let looked = 0
  const over = new AbortController()
  const told: string[] = []
  const clock = {
    now: () => now,
    sleep: async (ms: number) => {
      now += ms
    },
  }
  const ready = async () => {
    const found = looks[looked++]
    if (found === undefined) over.abort(new Error('seen'))
    return { log: null, tables: null, ...found }
  }
  await tellOutages({ ready, clock } as never, (text) => told.push(text), over.signal)
  return told
}

const down = (n: number): Partial<Readiness>[] => Array.from({ length: n }, () => ({ log: 'refused' }))

test('an outage is told once when it begins and once when it is over, each one', async () => {
  const told = await toldOf([{}, ...down(40), {}, {}, ...down(3), {}])
  expect(told).toEqual([
    expect.stringMatching(/^the event store does not answer; .*goes on by itself when it does \(refused\)$/),
    'the event store answers again after 40 s',
    expect.stringContaining('the event store does not answer'),
    'the event store answers again after 3 s',
  ])
})

test('an answer that is missed once is no outage, and each server is told of by its name', async () => {
  expect(await toldOf([{}, { tables: 'late' }, {}, { log: 'late' }, {}])).toEqual([])
  expect(await toldOf([{ tables: 'gone' }, { tables: 'gone' }, {}])).toEqual([
    expect.stringMatching(/^PostgreSQL does not answer; .*\(gone\)$/),
    'PostgreSQL answers again after 2 s',
  ])
})
