import { z } from 'zod'
import { given } from '../operations/omit-undefined.ts'
import type { ApprovalRow, RunRow } from '../operations/read-model.ts'
import { RunQuery } from '../operations/runs/query-schema.ts'
import { mustBeRun } from '../operations/runs/run-of-agent.ts'
import type { Services } from '../operations/services.ts'

/** Filters for runs, with the names of `GET /v1/runs`. `over`: dollars. Times: ISO 8601, or an age such as 2d. */
export interface RunsWanted extends Omit<z.input<typeof RunQuery>, 'limit' | 'after' | 'over'> {
  readonly over?: number | string
  /** The most runs to return. Absent: all. */
  readonly limit?: number
}

const MostRuns = z.int().positive()

/** Filters for approvals. Without a state: the pending ones. */
export interface ApprovalsWanted {
  readonly run?: string
  readonly state?: ApprovalRow['state'] | 'all'
}

/** Rows per page. An iteration that ends early reads no further page. */
const PAGE = 100

interface Page<T> {
  readonly rows: readonly T[]
  readonly next: string | null
}

/** All rows of a list, read page by page on demand. */
export async function* pages<T>(
  read: (after: { after?: string }) => Promise<Page<T>>,
): AsyncGenerator<T, void, undefined> {
  for (let after: string | null | undefined; after !== null; ) {
    const { rows, next } = await read(after === undefined ? {} : { after })
    yield* rows
    after = next
  }
}

type Parse = <T extends z.ZodType>(schema: T, value: unknown) => z.output<T>

/** Throws `INVALID_REQUEST` synchronously if `parsed` refuses a filter. */
export function runsOf(s: Services, { over, limit, ...rest }: RunsWanted, parsed: Parse): AsyncIterable<RunRow> {
  const which = parsed(RunQuery, over === undefined ? rest : { ...rest, over: String(over) })
  return runsAsAsked(s, which, limit === undefined ? Number.POSITIVE_INFINITY : parsed(MostRuns, limit))
}

async function* runsAsAsked(
  s: Services,
  which: z.output<typeof RunQuery>,
  most: number,
): AsyncGenerator<RunRow, void, undefined> {
  await s.read.caughtUp()
  let left = most
  const { after: _, limit: __, ...wanted } = which
  const all = pages(async (after) => {
    const { value } = await s.read.runs({ ...given(wanted), limit: Math.min(PAGE, left), ...after })
    return { rows: value.runs, next: value.next }
  })
  for await (const run of all) {
    yield run
    left -= 1
    if (left === 0) return
  }
}

export async function* approvalsOf(
  s: Services,
  { run, state = 'pending' }: ApprovalsWanted,
): AsyncGenerator<ApprovalRow, void, undefined> {
  if (run !== undefined) await mustBeRun(s, run)
  await s.read.caughtUp()
  const which = { ...(run === undefined ? {} : { runId: run }), ...(state === 'all' ? {} : { state }) }
  yield* pages(async (after) => {
    const { value } = await s.read.approvals({ ...which, limit: PAGE, ...after })
    return { rows: value.approvals, next: value.next }
  })
}
