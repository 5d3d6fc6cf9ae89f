import { computed, signal } from '@preact/signals'

export interface Saved<T> {
  readonly name: string
  readonly value: T
}

/** The part of the browser's storage that a list needs. */
type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>

const PREFIX = 'keepup-saved'
const prefixOf = (person: string): string => `${PREFIX} ${encodeURIComponent(person)} `

/** Named values of a person in the browser's storage, in the order of their names. */
export class SavedList<T> {
  readonly #kind: string
  readonly #isValue: (found: unknown) => found is T
  readonly #store: Store
  readonly #person: () => string
  readonly #changes = signal(0)

  /** `isValue`: whether a stored value is usable. `person`: the name of the present person. */
  constructor(kind: string, isValue: (found: unknown) => found is T, store: Store, person: () => string) {
    this.#kind = kind
    this.#isValue = isValue
    this.#store = store
    this.#person = person
    // Lists under this name belonged to no person and contained tasks.
    store.removeItem(`keepup-${kind}`)
  }

  readonly items = computed((): readonly Saved<T>[] => {
    this.#changes.value
    return this.#read()
  })

  /** Reads the list again, after another tab changed it. */
  reload(): void {
    this.#changes.value++
  }

  /** Saves a value in place of one with the same name. Throws if the storage is full or forbidden. */
  put(name: string, value: T): void {
    this.#write([...this.#without(name), { name, value }].sort((a, b) => (a.name < b.name ? -1 : 1)))
  }

  remove(name: string): void {
    this.#write(this.#without(name))
  }

  #without(name: string): readonly Saved<T>[] {
    return this.#read().filter((one) => one.name !== name)
  }

  get #place(): string {
    return prefixOf(this.#person()) + this.#kind
  }

  #read(): readonly Saved<T>[] {
    try {
      const found: unknown = JSON.parse(this.#store.getItem(this.#place) ?? '[]')
      return Array.isArray(found)
        ? found.filter((one) => typeof one?.name === 'string' && this.#isValue(one.value))
        : []
    } catch {
      return []
    }
  }

  #write(list: readonly Saved<T>[]): void {
    this.#store.setItem(this.#place, JSON.stringify(list))
    this.reload()
  }
}

/** Removes all lists of a person. */
export function forgetSaved(person: string, store: Store): void {
  const places = Array.from({ length: store.length }, (_, n) => store.key(n) ?? '')
  for (const place of places) if (place.startsWith(prefixOf(person))) store.removeItem(place)
}
