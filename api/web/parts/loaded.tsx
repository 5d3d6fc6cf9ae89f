import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { errorText } from '../client/api.ts'
import { listen } from '../client/feed.ts'

export type Loading<T> = { readonly value: T } | { readonly fault: string } | null

/**
 * Loads a value, and loads it again when `key` or `round` changes. Null while the first answer for a key is loading. A
 * new round of the same key keeps the previous answer until the next one arrives. A failed request is repeated when the
 * event stream reconnects.
 */
export function useLoaded<T>(key: string, ask: () => Promise<T>, round: number | string = 0): Loading<T> {
  const [found, setFound] = useState<{ key: string; loading: Loading<T> }>({ key: '', loading: null })
  const [tries, setTries] = useState(0)
  const failed = found.loading !== null && 'fault' in found.loading
  useEffect(() => (failed ? listen({ connected: () => setTries((n) => n + 1) }) : undefined), [failed])
  useEffect(() => {
    let over = false
    const set = (loading: Loading<T>) => over || setFound({ key, loading })
    ask().then(
      (value) => set({ value }),
      (error: unknown) => set({ fault: errorText(error) }),
    )
    return () => {
      over = true
    }
  }, [key, round, tries])
  return found.key === key ? found.loading : null
}

/** Renders the loaded value, or a progress text, or the error. */
export function Loaded<T>({ of, children }: { of: Loading<T>; children: (value: T) => ComponentChildren }) {
  if (of === null) return <p class="quiet">loading …</p>
  if ('fault' in of) return <p class="fault">{of.fault}</p>
  return <>{children(of.value)}</>
}
