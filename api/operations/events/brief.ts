import type { Json } from '../../../domain/log/json.ts'
import type { EventView } from './schemas.ts'

/** The most characters of a text in a brief view (UTF-16 code units). */
const TEXT = 2_000
/** The most members of an array or object. */
const MEMBERS = 200
const DEPTH = 12

/** A view with truncated texts, and `cut` if any was truncated. Clients request the whole separately. */
export function briefOf(view: EventView): EventView {
  const cutter = new Cutter()
  const payload = view.payload && cutter.value(view.payload as Json, 0)
  return cutter.cut ? ({ ...view, payload, cut: true } as EventView) : view
}

class Cutter {
  cut = false

  value(value: Json, depth: number): Json {
    if (typeof value === 'string') return value.length > TEXT ? this.#short(`${whole(value.slice(0, TEXT))}…`) : value
    if (typeof value !== 'object' || value === null) return value
    if (depth > DEPTH) return this.#short('…')
    if (Array.isArray(value)) {
      const kept = value.slice(0, MEMBERS).map((item) => this.value(item, depth + 1))
      return value.length > MEMBERS ? this.#short([...kept, '…']) : kept
    }
    const entries = Object.entries(value)
    const kept = entries.slice(0, MEMBERS).map(([key, item]) => [this.#key(key), this.value(item as Json, depth + 1)])
    return entries.length > MEMBERS ? this.#short(Object.fromEntries(kept)) : Object.fromEntries(kept)
  }

  #key(key: string): string {
    return key.length > TEXT ? this.#short(`${whole(key.slice(0, TEXT))}…`) : key
  }

  #short<T>(value: T): T {
    this.cut = true
    return value
  }
}

/** Removes half of a surrogate pair at the end. */
const whole = (text: string): string => text.replace(/[\ud800-\udbff]$/, '')
