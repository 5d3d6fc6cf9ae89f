import { expect, test } from 'vitest'
import type { Readiness, Trouble } from '../../../api/operations/system/readiness.ts'
import { tellOutages } from '../../../api/process/servers/outages.ts'

/** The messages while each look finds the next of these; the clock goes on as it is slept. */
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

const silent = (why: string): Trouble => ({ state: 'silent', why })
const unusable = (why: string): Trouble => ({ state: 'unusable', why })
const down = (n: number): Partial<Readiness>[] => Array.from({ length: n }, () => ({ log: silent('refused') }))

test('an outage is told once when it begins and once when it is over, each one', async () => {
  const told = await toldOf([{}, ...down(40), {}, {}, ...down(3), {}])
  expect(told).toEqual([
    expect.stringMatching(/^the event store does not answer; .*goes on by itself when it does \(refused\)$/),
    'the event store answers again after 40 s',
    expect.stringContaining('the event store does not answer'),
    'the event store answers again after 3 s',
  ])
})

test('an answer that is missed once is no outage, and each server is reported by its name', async () => {
  expect(await toldOf([{}, { tables: silent('late') }, {}, { log: silent('late') }, {}])).toEqual([])
  expect(await toldOf([{ tables: silent('gone') }, { tables: silent('gone') }, {}])).toEqual([
    expect.stringMatching(/^PostgreSQL does not answer; .*\(gone\)$/),
    'PostgreSQL answers again after 2 s',
  ])
})

test('what answers and cannot be used is told as that, with what it says and no promise, also where it was silent before', async () => {
  const other = unusable('the tables are of the log a, and the event store holds the log b')
  expect(await toldOf([{ tables: other }, { tables: other }, { tables: other }, {}])).toEqual([
    `what is in PostgreSQL cannot be used; runs cannot be shown or taken over: ${other.why}`,
    'what is in PostgreSQL can be used again after 3 s',
  ])
  const stopped = silent('refused')
  const changed = [stopped, stopped, other, stopped, other].map((tables) => ({ tables }))
  expect(await toldOf([...changed, {}])).toEqual([
    expect.stringMatching(/^PostgreSQL does not answer/),
    expect.stringMatching(/^what is in PostgreSQL cannot be used; /),
    'what is in PostgreSQL can be used again after 5 s',
  ])
})

test('a log that was replaced by another one ends it, with the reason', async () => {
  const log: Trouble = { state: 'replaced', why: 'the log a was replaced; restore it' }
  await expect(toldOf([{}, { log }])).rejects.toMatchObject({ code: 'LOG_REPLACED', message: log.why })
})

test('a process that is told to end does not wait for a look', async () => {
  const over = new AbortController()
  const ready = () => {
    over.abort(new Error('told to end'))
    return new Promise<never>(() => undefined)
  }
  await tellOutages({ ready, clock: {} } as never, () => {}, over.signal)
})
