/**
 * A callback of the program that uses the runtime. What it throws, at once or in its promise, is not thrown into what calls it, which
 * goes on; it is told where that has ended.
 */
export class Callback<T> {
  private readonly act: (given: T) => unknown
  private thrown: { readonly error: unknown } | null = null

  constructor(act: (given: T) => unknown) {
    this.act = act
  }

  call(given: T): void {
    const keep = (error: unknown) => {
      this.thrown ??= { error }
    }
    try {
      const later = this.act(given)
      if (later instanceof Promise) later.catch(keep)
    } catch (error) {
      keep(error)
    }
  }

  /** Throws what it threw first, if anything. */
  settle(): void {
    if (this.thrown !== null) throw this.thrown.error
  }
}
