import { expect, test } from 'vitest'
import { asTables, type Cost, inOrderOf, ratios, spread } from './report.ts'

const cost = (ms: number, more: Partial<Cost> = {}): Cost => ({
  ...{ turns: 10, ms, cpuMs: ms / 2, peakBytes: 50e6, storedBytes: 20e3, durability: 'synchronous 2', ...more },
})
/** The second round is on a machine of half the speed. */
const rounds = [
  new Map([
    ['ours', cost(300)],
    ['peer', cost(100)],
  ]),
  new Map([
    ['ours', cost(500)],
    ['peer', cost(200)],
  ]),
  new Map([
    ['ours', cost(320)],
    ['peer', cost(80, { serverCpuMs: 70 })],
  ]),
]

test('a ratio is taken within its round, not between medians', () => {
  const found = ratios(rounds, 'ours', 'peer', ({ ms }) => ms)
  expect(found).toEqual([3, 2.5, 4])
  expect(spread(found)).toBe('3 (2.5 to 4)')
})

test('each contender is first in one round and keeps its neighbours', () => {
  const orders = [0, 1, 2, 3].map((round) => inOrderOf(['a', 'b', 'c'], round).join(''))
  expect(orders).toEqual(['abc', 'bca', 'cab', 'abc'])
})

test('the tables have a figure of each contender, ratios to each other one, and the time of a server', () => {
  const lines = asTables('work', rounds, ['ours', 'peer']).split('\n')
  const cells = (name: string) =>
    lines
      .find((line) => line.trim().startsWith(name))!
      .trim()
      .split(/ {2,}/)
  expect(cells('ours ')).toEqual([
    'ours',
    '32 (30 to 50)',
    '16 (15 to 25)',
    '50 (50 to 50)',
    '2 (2 to 2)',
    '31.3 (20 to 33.3)',
  ])
  expect(cells('peer ')[1]).toBe('10 (8 to 20)')
  expect(cells('ours : peer')).toEqual(['ours : peer', '3 (2.5 to 4)', '3 (2.5 to 4)', '1 (1 to 1)', '1 (1 to 1)'])
  expect(cells('peer:')[0]).toBe('peer: its server used 7 CPU ms/turn more')
})

test('one round has no ranges', () => {
  expect(asTables('work', rounds.slice(0, 1), ['ours', 'peer'])).not.toMatch(/range| to /)
})
