import type { Run } from '../../operations/runs/schemas.ts'
import { money, number } from '../parts/format.ts'

type Grouped = Pick<Run, 'runId' | 'task' | 'total'>

/** A line of the run list: a run, or the head of a group. */
export type Line<R extends Grouped = Run> =
  | { readonly run: R; readonly group?: undefined; readonly inside: boolean }
  | { readonly group: Group<R>; readonly run?: undefined }

export interface Group<R extends Grouped = Run> {
  readonly task: string
  readonly runs: readonly R[]
  readonly open: boolean
}

/**
 * The lines of runs grouped by their task, in the order of the first run of each task. A run that is the only one of
 * its task, or has no task, gets no group. `isOpen`: whether the runs of a group are shown.
 */
export function byTask<R extends Grouped>(
  runs: readonly R[],
  isOpen: (task: string, runs: readonly R[]) => boolean,
): Line<R>[] {
  const groups = Map.groupBy(runs, ({ task, runId }) => task ?? `\0${runId}`)
  return [...groups.values()].flatMap((group): Line<R>[] => {
    const [{ task }] = group as [R]
    if (task === null || group.length === 1) return group.map((run) => ({ run, inside: false }))
    const open = isOpen(task, group)
    return [{ group: { task, runs: group, open } }, ...(open ? group.map((run) => ({ run, inside: true })) : [])]
  })
}

/** The sum of the costs of runs: `$0.0300`, `at least $0.0300` if a cost is unknown, or `?` if all are. */
export function costText(runs: readonly Grouped[]): string {
  const known = runs.flatMap(({ total }) => total.nanoDollars ?? [])
  const sum = known.reduce((sum, one) => sum + one, 0)
  if (known.length === runs.length) return money(sum)
  return known.length === 0 ? money(null) : `at least ${money(sum)}`
}

/** `3 done, 1 failed`: the count of each word, the most frequent first. */
export const tally = (words: readonly string[]): string =>
  [...Map.groupBy(words, (word) => word)]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([word, { length }]) => `${number(length)} ${word}`)
    .join(', ')
