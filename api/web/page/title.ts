import { effect, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { shown } from '../parts/shown.ts'
import { waitingForPeople } from './waiting.ts'

/** The most characters of a name in the window's title. */
const MOST = 100

const title = signal('')

/**
 * Keeps the window's title up to date. The title shows the number of open questions, so a background tab shows it too.
 */
export function followTitle(): void {
  effect(() => {
    const asks = waitingForPeople.value > 0 ? `(${waitingForPeople.value}) ` : ''
    document.title = `${asks}${title.value === '' ? '' : `${title.value} · `}keepup`
  })
}

/** Sets the name of the current screen. */
export function useTitle(name: string): void {
  useEffect(() => {
    title.value = shown(name.slice(0, MOST))
  }, [name])
}
