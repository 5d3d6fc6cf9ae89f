import type { Json } from '../../../domain/log/json.ts'
import type { EventView } from './schemas.ts'

/** The bounds of a shortened value. */
export interface Bounds {
  /** The most characters of a text (UTF-16 code units). */
  readonly text: number
  /** The most members of an array or object. */
  readonly members: number
  readonly depth: number
}

const BRIEF: Bounds = { text: 2_000, members: 200, depth: 12 }

/** A view with truncated texts, and `cut` if any was truncated. Clients request the whole separately. */
export function briefOf(view: EventView): EventView {
  if (view.payload === null) return view
  const { value, cut } = shortened(view.payload as Json, BRIEF)
  return cut ? ({ ...view, payload: value, cut: true } as EventView) : view
}

/** A copy within the bounds. `…` replaces omitted text and array members. Omitted members of objects leave no mark. */
export function shortened(given: Json, bounds: Bounds): { readonly value: Json; readonly cut: boolean } {
  const cutter = new Cutter(bounds)
  const value = cutter.value(given, 0)
  return { value, cut: cutter.cut }
}

class Cutter {
  cut = false
  readonly #bounds: Bounds

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  value(value: Json, depth: number): Json {
    if (typeof value === 'string') return this.#text(value)
    if (typeof value !== 'object' || value === null) return value
    const { members } = this.#bounds
    if (depth > this.#bounds.depth) return this.#short('…')
    if (Array.isArray(value)) {
      const kept = value.slice(0, members).map((item) => this.value(item, depth + 1))
      return value.length > members ? this.#short([...kept, '…']) : kept
    }
    const entries = Object.entries(value)
    const kept = entries.slice(0, members).map(([key, item]) => [this.#text(key), this.value(item as Json, depth + 1)])
    return entries.length > members ? this.#short(Object.fromEntries(kept)) : Object.fromEntries(kept)
  }

  #text(text: string): string {
    const { text: most } = this.#bounds
    return text.length > most ? this.#short(`${whole(text.slice(0, most))}…`) : text
  }

  #short<T>(value: T): T {
    this.cut = true
    return value
  }
}

/** Removes half of a surrogate pair at the end. */
const whole = (text: string): string => text.replace(/[\ud800-\udbff]$/, '')
