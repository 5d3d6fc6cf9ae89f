import { computed } from '@preact/signals'
import { query, setQuery } from '../page/router.ts'

/** The one position of the page: the revision of an event. Null: the end, wherever it is by now. */
export const at = computed<number | null>(() => {
  const text = query.value.get('at')
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null
})

export const goTo = (revision: number | null): void => setQuery({ at: revision === null ? null : String(revision) })

/** The event that the page shows, of so many. */
export const placeIn = (length: number): number =>
  at.value === null ? Math.max(0, length - 1) : Math.min(at.value, Math.max(0, length - 1))
