import { effect, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { shown } from '../parts/shown.ts'
import { waitingForPeople } from './waiting.ts'

/** Of a name, so much stands in the title of a window. */
const MOST = 100

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
    title.value = shown(name.slice(0, MOST))
  }, [name])
}
