import { Refused } from '../../http/answers.ts'
import type { Run } from '../../operations/runs/schemas.ts'
import { countText, number, short } from '../parts/format.ts'
import { shown } from '../parts/shown.ts'

/** The most runs that one action takes. The address of a pack of as many runs fits the server's limit of 16 KB. */
export const MOST_RUNS = 200
/** The most runs that a confirmation names, and the most faults that a result names. */
const MOST_NAMES = 5
const MOST_FAULTS = 10

export interface BulkResult {
  /** The ids of the runs that took the command. */
  readonly done: readonly string[]
  /** The refused runs with the reasons. */
  readonly faults: readonly (readonly [runId: string, text: string])[]
  /** Why further runs were not tried. Null: all were. */
  readonly stopped: 'person' | 'forbidden' | null
}

interface Bulk {
  readonly ids: readonly string[]
  readonly command: (id: string) => Promise<unknown>
  readonly textOf: (error: unknown) => string
  /** Called before each run with the number of tried runs. Returns true to stop. */
  readonly isStopped: (tried: number) => boolean
}

/** Sends a command to each run in turn. Stops where the person lacks the right, because the log records each refusal. */
export async function toEach({ ids, command, textOf, isStopped }: Bulk): Promise<BulkResult> {
  const done: string[] = []
  const faults: [string, string][] = []
  for (const [tried, id] of ids.entries()) {
    if (isStopped(tried)) return { done, faults, stopped: 'person' }
    try {
      await command(id)
      done.push(id)
    } catch (error) {
      faults.push([id, textOf(error)])
      if (error instanceof Refused && error.code === 'FORBIDDEN') return { done, faults, stopped: 'forbidden' }
    }
  }
  return { done, faults, stopped: null }
}

/** `2 of 5 runs forked. 1a2b3c4d: reason; and 2 more faults. The others stay chosen.` */
export function resultText({ done, faults, stopped }: BulkResult, total: number, verb: string): string {
  if (done.length === total) return `${countText(total, 'run')} ${verb}.`
  const named = faults.slice(0, MOST_FAULTS).map(([id, text]) => `${short(id)}: ${text}`)
  const more = faults.length - named.length
  const told = [...named, ...(more > 0 ? [`and ${countText(more, 'more fault')}`] : [])].join('; ')
  const untried = total - done.length - faults.length
  return [
    `${number(done.length)} of ${countText(total, 'run')} ${verb}.`,
    ...(told === '' ? [] : [`${told}.`]),
    ...(untried > 0 ? [`${untried} not tried${stopped === 'forbidden' ? ', as the right is missing' : ''}.`] : []),
    'These runs stay chosen.',
  ].join(' ')
}

/** The tasks of the first runs, and the count of the others. */
export function namesOf(runs: readonly Pick<Run, 'runId' | 'task'>[]): string {
  const names = runs.slice(0, MOST_NAMES).map(({ runId, task }) => {
    const name = shown(task ?? '(no task yet)')
    return `“${name.length > 60 ? `${name.slice(0, 60)}…` : name}” (${short(runId)})`
  })
  const more = runs.length - names.length
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
