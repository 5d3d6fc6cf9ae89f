import { setImmediate as nextTurn } from 'node:timers/promises'
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { beginInTurns } from '../../../api/http/begin-in-turns.ts'

// Faults planted: no middleware; requests that wait begin last first; a new request begins before those that wait.

/** An app that says which requests have begun, in their order. */
function numbered(most: number) {
  const begun: string[] = []
  const app = new Hono().use(beginInTurns(most)).get('/:n', (c) => {
    begun.push(c.req.param('n'))
    return c.body(null)
  })
  const ask = (...names: number[]) => Promise.all(names.map((n) => app.request(`/${n}`)))
  return { begun, ask }
}

test('requests that come together begin a few per turn of the event loop, in their order', async () => {
  const { begun, ask } = numbered(3)
  const asked = ask(0, 1, 2, 3, 4, 5, 6)
  const counts: number[] = []
  for (let turn = 0; turn < 4; turn++) {
    await nextTurn()
    counts.push(begun.length)
  }
  expect((await asked).map(({ status }) => status)).toEqual(Array(7).fill(200))
  expect(begun).toEqual(['0', '1', '2', '3', '4', '5', '6'])
  for (const [at, count] of counts.entries()) expect(count).toBeLessThanOrEqual(3 * (at + 2))
  expect(counts[0]).toBeLessThan(7)
})

test('a request does not overtake those that wait, and begins at once where none does', async () => {
  const { begun, ask } = numbered(2)
  const first = ask(0, 1, 2, 3, 4)
  await nextTurn()
  await Promise.all([first, ask(5)])
  expect(begun).toEqual(['0', '1', '2', '3', '4', '5'])
  await nextTurn()
  const alone = ask(6)
  for (let step = 0; step < 20; step++) await Promise.resolve()
  expect(begun.at(-1)).toBe('6')
  await alone
})
