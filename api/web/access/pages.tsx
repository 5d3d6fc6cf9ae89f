import { useEffect, useState } from 'preact/hooks'
import { errorText } from '../client/api.ts'

export interface Page<T> {
  readonly rows: readonly T[]
  /** The cursor of the next page. Null: none. */
  readonly next: string | null
}

export interface Pages<T> {
  readonly rows: readonly T[]
  readonly fault: string | null
  /** Loads the next page. Null: there is none. */
  readonly more: (() => void) | null
  /** Loads the first page again. */
  readonly again: () => void
}

/** Loads a list page by page. It begins again when `key` changes. */
export function usePages<T>(key: string, read: (after: string | undefined) => Promise<Page<T>>): Pages<T> {
  const [round, setRound] = useState(0)
  const [found, setFound] = useState<Page<T> & { fault: string | null }>({ rows: [], next: null, fault: null })
  const load = (before: readonly T[], after: string | undefined, over: () => boolean) =>
    read(after).then(
      ({ rows, next }) => over() || setFound({ rows: [...before, ...rows], next, fault: null }),
      (error: unknown) => over() || setFound((last) => ({ ...last, fault: errorText(error) })),
    )
  useEffect(() => {
    let over = false
    void load([], undefined, () => over)
    return () => {
      over = true
    }
  }, [key, round])
  const { rows, next, fault } = found
  return {
    rows,
    fault,
    more: next === null ? null : () => void load(rows, next, () => false),
    again: () => setRound((n) => n + 1),
  }
}

/** The fault of a list, and the button for its next page. */
export const More = ({ of: { fault, more } }: { of: Pages<unknown> }) => (
  <>
    {fault !== null && <p class="fault">{fault}</p>}
    {more !== null && (
      <button type="button" onClick={more}>
        Show more
      </button>
    )}
  </>
)
