/** A map that keeps its `size` most recently used entries. */
export class Lru<K, V> {
  readonly #size: number
  readonly #map = new Map<K, V>()

  constructor(size: number) {
    this.#size = size
  }

  get(key: K): V | undefined {
    const value = this.#map.get(key)
    if (value !== undefined && this.#map.size >= this.#size / 2) {
      this.#map.delete(key)
      this.#map.set(key, value)
    }
    return value
  }

  set(key: K, value: V): void {
    this.#map.delete(key)
    this.#map.set(key, value)
    if (this.#map.size > this.#size) this.#map.delete(this.#map.keys().next().value as K)
  }

  clear(): void {
    this.#map.clear()
  }
}
