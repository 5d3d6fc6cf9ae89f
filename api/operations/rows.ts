import { formatCursor } from '../../domain/log/cursor.ts'
import type { EventLog } from '../../domain/ports/index.ts'
import { checkedCursor } from './events/filter.ts'

// From rows of the tables to pages of the API.

/** The log position of a cursor. Rejects if the cursor belongs to another log. */
export const positionAfter = async (log: EventLog, after: string | undefined): Promise<number | undefined> =>
  (await checkedCursor(log, after))?.position

/** The cursor of an event. Null: the stream does not have it. */
export async function cursorIn(log: EventLog, stream: string, revision: number): Promise<string | null> {
  for await (const [event] of log.read(stream, { from: revision, limit: 1, bodies: false }))
    if (event !== undefined) return formatCursor(log.cursor(event))
  return null
}

/** The first `limit` of `limit + 1` rows, and the cursor after them; null: these are the last. */
export async function pageOf<T>(
  rows: readonly T[],
  limit: number,
  cursorAfter: (last: T) => string | null | Promise<string | null>,
) {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { page, next: last !== undefined && rows.length > limit ? await cursorAfter(last) : null }
}

type Camel<S> = S extends `${infer First}_${infer Rest}` ? `${First}${Capitalize<Camel<Rest>>}` : S

/** The row with `createdAt` in place of `created_at`. */
export const camelCased = <R extends object>(row: R) =>
  Object.fromEntries(
    Object.entries(row).map(([key, value]) => [
      key.replaceAll(/_(.)/g, (_, first: string) => first.toUpperCase()),
      value,
    ]),
  ) as { [K in keyof R as Camel<K>]: R[K] }
