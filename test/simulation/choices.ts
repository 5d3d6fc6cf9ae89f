import { draws } from '../support/faults/seed.ts'

const BELOW = 2 ** 30

/**
 * The choices of one history, drawn from a seed or given. 0 is always the ordinary choice: the oldest step, no fault. A
 * list that has ended continues with 0, so any part of a list is a list of choices too.
 */
export class Choices {
  readonly made: number[] = []
  readonly #next: () => number

  constructor(source: number | readonly number[]) {
    if (typeof source === 'number') {
      const draw = draws(source)
      this.#next = () => draw(BELOW)
    } else this.#next = () => source[this.made.length] ?? 0
  }

  /** From 0 to below 2^30. */
  next(): number {
    const choice = this.#next()
    this.made.push(choice)
    return choice
  }

  /** One of the values; the first is the ordinary one. */
  of<T>(...values: readonly T[]): T {
    return values[this.next() % values.length]!
  }

  below(bound: number): number {
    return this.next() % bound
  }
}
