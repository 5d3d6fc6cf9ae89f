import { effect, type Signal, signal } from '@preact/signals'

/**
 * A signal whose value is in the browser's storage as JSON under `place`. `read` validates the
 * parsed value and returns a default if it is unusable. It gets undefined if nothing or no JSON is stored.
 */
export function stored<T>(place: string, read: (found: unknown) => T): Signal<T> {
  const value = signal(read(parsed(localStorage.getItem(place))))
  effect(() => {
    const text = JSON.stringify(value.value)
    try {
      localStorage.setItem(place, text)
    } catch {
      // The storage is full or switched off: the value lasts as long as the tab.
    }
  })
  return value
}

function parsed(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
