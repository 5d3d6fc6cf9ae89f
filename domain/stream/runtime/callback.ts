/**
 * A callback of the program that uses the runtime. An error that the callback throws or rejects with does not interrupt
 * the caller; {@link settle} throws it later.
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

  /** Throws the first error of the callback, if any. */
  settle(): void {
    if (this.thrown !== null) throw this.thrown.error
  }
}
