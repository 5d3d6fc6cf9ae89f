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

/** The zone of the times that the page shows; null: that of this computer. */
export const zone = signal<string | null>(null)

/** Takes up the zone that this browser was told last, and keeps the next one. */
export function rememberZone(): void {
  const kept = localStorage.getItem(PLACE)
  if (kept !== null && isZone(kept)) zone.value = kept
  effect(() => {
    if (zone.value === null) localStorage.removeItem(PLACE)
    else localStorage.setItem(PLACE, zone.value)
  })
}

/** For the formats of the browser. */
export const zoned = (): { timeZone?: string } => (zone.value === null ? {} : { timeZone: zone.value })

export const zoneName = (): string => (zone.value === null ? 'local time' : zone.value)

/** The time of this computer, or UTC. */
export const nextZone = (): void => {
  zone.value = zone.value === null ? 'UTC' : null
}

/** Zones by a part of their names, the first ones. */
export const zonesLike = (text: string, most: number): readonly string[] =>
  ['UTC', ...Intl.supportedValuesOf('timeZone')]
    .filter((name) => name.toLowerCase().replaceAll('_', ' ').includes(text))
    .slice(0, most)
