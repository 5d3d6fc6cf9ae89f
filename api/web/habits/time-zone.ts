import { effect, signal } from '@preact/signals'

const PLACE = 'keepup-time-zone'

const isZone = (name: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** The time zone of the page. Null: the zone of this computer. */
export const zone = signal<string | null>(null)

/** Restores the zone from the browser's storage and saves later changes. */
export function rememberZone(): void {
  const kept = localStorage.getItem(PLACE)
  if (kept !== null && isZone(kept)) zone.value = kept
  effect(() => {
    if (zone.value === null) localStorage.removeItem(PLACE)
    else localStorage.setItem(PLACE, zone.value)
  })
}

/** Options for `Intl` formats. */
export const zoned = (): { timeZone?: string } => (zone.value === null ? {} : { timeZone: zone.value })

export const zoneName = (): string => (zone.value === null ? 'local time' : zone.value)

/** Switches between UTC and the time of this computer. */
export const nextZone = (): void => {
  zone.value = zone.value === null ? 'UTC' : null
}

/** The first zones whose names contain a text. */
export const zonesLike = (text: string, most: number): readonly string[] =>
  ['UTC', ...Intl.supportedValuesOf('timeZone')]
    .filter((name) => name.toLowerCase().replaceAll('_', ' ').includes(text))
    .slice(0, most)
