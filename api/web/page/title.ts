import { effect, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { shown } from '../parts/shown.ts'
import { waitingForPeople } from './waiting.ts'

/** The most characters of a name in the window's title. */
const MOST = 100

const title = signal('')

/**
 * Keeps the window's title and icon up to date. Both show that a person is needed, so a background tab shows it too.
 */
export function followTitle(): void {
  effect(() => {
    const asks = waitingForPeople.value > 0 ? `(${waitingForPeople.value}) ` : ''
    document.title = `${asks}${title.value === '' ? '' : `${title.value} · `}keepup`
    const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]')
    if (icon !== null) icon.href = asks === '' ? '/icon.svg' : '/icon-asks.svg'
  })
}

/** Sets the name of the current screen. */
export function useTitle(name: string): void {
  useEffect(() => {
    title.value = shown(name.slice(0, MOST))
  }, [name])
}
