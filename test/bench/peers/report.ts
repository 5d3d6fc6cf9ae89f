import { number } from '../figure.ts'
import { median } from '../measure.ts'
import type { Cost as Printed } from './contender.ts'

/** What one process of a contender cost, with what it left behind. */
export type Cost = Printed & { readonly storedBytes: number }

/** The cost of each contender in each round, by name. */
export type Rounds = readonly ReadonlyMap<string, Cost>[]

/** Each is better when it is smaller, so a ratio below 1 is a win of the first. */
const MEASURES: Readonly<Record<string, (cost: Cost) => number>> = {
  'wall ms/turn': ({ ms, turns }) => ms / turns,
  'CPU ms/turn': ({ cpuMs, turns }) => cpuMs / turns,
  'peak MB': ({ peakBytes }) => peakBytes / 1e6,
  'stored KB/turn': ({ storedBytes, turns }) => storedBytes / 1e3 / turns,
}

/** The median, with the range where it has one. */
export function spread(values: readonly number[]): string {
  const [least, most] = [number(Math.min(...values)), number(Math.max(...values))]
  const middle = number(median(values))
  return values.length === 1 ? middle : `${middle} (${least} to ${most})`
}

/** The figures of one contender, round by round. */
const of = (rounds: Rounds, name: string, measure: (cost: Cost) => number): number[] =>
  rounds.map((round) => measure(round.get(name)!))

/** What one contender cost against another, in each round: machines drift between rounds, and less within one. */
export const ratios = (rounds: Rounds, one: string, other: string, measure: (cost: Cost) => number): number[] => {
  const [mine, theirs] = [of(rounds, one, measure), of(rounds, other, measure)]
  return mine.map((value, round) => value / theirs[round]!)
}

/** The contenders in the order of a round: each is first once, so that none always follows the same state of the machine. */
export const inOrderOf = <T>(contenders: readonly T[], round: number): T[] =>
  contenders.map((_, place) => contenders[(place + round) % contenders.length]!)

/** Figures and ratios of one kind of work, as two tables for people. The first name is compared with the others. */
export function asTables(title: string, rounds: Rounds, names: readonly string[]): string {
  const measures = Object.entries(MEASURES)
  const [first, ...others] = names as [string, ...string[]]
  const rate = ({ ms, turns }: Cost) => (turns * 1000) / ms
  const figures = names.map((name) => [
    name,
    ...measures.map(([, measure]) => spread(of(rounds, name, measure))),
    spread(of(rounds, name, rate)),
  ])
  const against = others.map((name) => [
    `${first} : ${name}`,
    ...measures.map(([, measure]) => spread(ratios(rounds, first, name, measure))),
  ])
  const servers = names.flatMap((name) => {
    const costs = rounds.flatMap((round) => round.get(name) ?? [])
    const used = costs.flatMap(({ serverCpuMs, turns }) => (serverCpuMs === undefined ? [] : [serverCpuMs / turns]))
    return used.length === 0 ? [] : [`${name}: its server used ${spread(used)} CPU ms/turn more\n`]
  })
  const head = ['', ...measures.map(([name]) => name)]
  return [
    `${title}; ${rounds.length === 1 ? 'one round' : `median of ${rounds.length} rounds (range)`}\n`,
    aligned([[...head, 'turns/s'], ...figures]),
    ...servers,
    `\n${title}; ratios within ${rounds.length === 1 ? 'the round' : 'each round, median (range)'}; below 1 ${first} costs less\n`,
    aligned([head, ...against]),
  ].join('')
}

function aligned(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)).join('  '))
  return lines.map((line) => `  ${line.trimEnd()}\n`).join('')
}
