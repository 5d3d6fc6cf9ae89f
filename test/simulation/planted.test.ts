import { expect, test } from 'vitest'
import { changedBy, plant } from './plant.ts'
import { PLANTED, type Planted } from './planted-bugs.ts'

// All of them: npm run test:planted.

test.each(PLANTED.map((bug) => [bug.bug, bug] as const))('the sources have the place of the bug once: %s', (_, bug) => {
  expect(changedBy(bug).length).toBeGreaterThan(0)
})

/** Bugs that a few hundred steps find. */
const QUICK = [
  'an append is acknowledged before it is durable',
  'a driver takes its lease for ownership and does not look at the log',
]

test.each(QUICK)('the simulation finds by its rule that %s', async (name) => {
  const bug = PLANTED.find((one) => one.bug === name)!
  expect(await plant(bug, { seconds: 20, shrink: 0 })).toMatchObject({ verdict: 'found' })
})

const APPEND = 'domain/stream/runtime/append.ts'
const SENDS = 'await retry.attempt((limitMs) => log.append(stream, expected, sealed, limitMs))'
const breaks = 'an acknowledged event is in the log'
const planted = (to: string): Planted => ({ bug: 'made up', breaks, edits: [{ file: APPEND, from: SENDS, to }] })

test('sources that do not load are no finding', async () => {
  const outcome = await plant(planted('await await('), { seconds: 1, shrink: 0 })
  expect(outcome).toMatchObject({ verdict: 'does not run', error: expect.stringContaining('SyntaxError') })
})

test('a crash does not stand for the expected rule', async () => {
  const outcome = await plant(planted("throw new TypeError('planted')"), { seconds: 5, shrink: 0 })
  expect(outcome).toMatchObject({ verdict: 'found otherwise' })
})
