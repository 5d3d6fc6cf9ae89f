import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { told } from '../client/api.ts'
import { listen } from '../client/feed.ts'

export type Loading<T> = { readonly value: T } | { readonly fault: string } | null

/**
 * What a question answers, asked again where its key or round changes; null while it is under way. In another round of one key
 * the answer before stays until the next one is there. What failed is asked again once the server answers again.
 */
export function useLoaded<T>(key: string, ask: () => Promise<T>, round = 0): Loading<T> {
  const [found, setFound] = useState<{ key: string; loading: Loading<T> }>({ key: '', loading: null })
  const [tries, setTries] = useState(0)
  const failed = found.loading !== null && 'fault' in found.loading
  useEffect(() => (failed ? listen({ connected: () => setTries((n) => n + 1) }) : undefined), [failed])
  useEffect(() => {
    let over = false
    const set = (loading: Loading<T>) => over || setFound({ key, loading })
    ask().then(
      (value) => set({ value }),
      (error: unknown) => set({ fault: told(error) }),
    )
    return () => {
      over = true
    }
  }, [key, round, tries])
  return found.key === key ? found.loading : null
}

/** Shows what was loaded, that it is being loaded, or why it cannot be. */
export function Loaded<T>({ of, children }: { of: Loading<T>; children: (value: T) => ComponentChildren }) {
  if (of === null) return <p class="quiet">loading …</p>
  if ('fault' in of) return <p class="fault">{of.fault}</p>
  return <>{children(of.value)}</>
}
