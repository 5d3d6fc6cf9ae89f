import { effect, signal } from '@preact/signals'

type Theme = 'system' | 'light' | 'dark'

const PLACE = 'keepup-theme'
const kept = localStorage.getItem(PLACE)

export const theme = signal<Theme>(kept === 'light' || kept === 'dark' ? kept : 'system')

effect(() => {
  localStorage.setItem(PLACE, theme.value)
  document.documentElement.dataset.theme = theme.value
})

const NEXT: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' }
export const nextTheme = (): void => {
  theme.value = NEXT[theme.value]
}
