import { effect, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { waitingForPeople } from './waiting.ts'

const title = signal('')

/** Keeps the title of the window: where it is, and how much waits for people, so that a tab in the background tells it. */
export function followTitle(): void {
  effect(() => {
    const asks = waitingForPeople.value > 0 ? `(${waitingForPeople.value}) ` : ''
    document.title = `${asks}${title.value === '' ? '' : `${title.value} · `}keepup`
  })
}

/** Names the screen that is shown. */
export function useTitle(name: string): void {
  useEffect(() => {
    title.value = name
  }, [name])
}
