import { computed } from '@preact/signals'
import { query, setQuery } from '../page/router.ts'

/** The page's position: the revision of an event. Null: the end, also while the stream grows. */
export const at = computed<number | null>(() => {
  const text = query.value.get('at')
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null
})

export const goTo = (revision: number | null): void => setQuery({ at: revision === null ? null : String(revision) })

/** The position in a stream of `length` events. */
export const positionIn = (length: number): number =>
  at.value === null ? Math.max(0, length - 1) : Math.min(at.value, Math.max(0, length - 1))
