interface AtWork {
  readonly controller: AbortController
  readonly ended: Promise<void>
  /** Its outcome is on its way into the log. */
  hasOutcome: boolean
}

/** The effects that a driver performs now, by id. */
export class EffectsAtWork {
  readonly #all = new Map<string, AtWork>()
  readonly #over: () => void

  /** `over`: told whenever one has ended. */
  constructor(over: () => void) {
    this.#over = over
  }

  get size(): number {
    return this.#all.size
  }

  has(id: string): boolean {
    return this.#all.has(id)
  }

  /** Starts an effect, which is at work until what `perform` gives is settled; `perform` does not reject. */
  start(id: string, perform: (signal: AbortSignal) => Promise<void>): void {
    const controller = new AbortController()
    const ended = perform(controller.signal).finally(() => {
      this.#all.delete(id)
      this.#over()
    })
    this.#all.set(id, { controller, ended, hasOutcome: false })
  }

  /** What has ended by itself is not broken off, although it is owed no longer once its outcome is recorded. */
  outcome(id: string): void {
    const one = this.#all.get(id)
    if (one !== undefined) one.hasOutcome = true
  }

  /** Breaks off what is owed no longer. `reason`: made only where it is needed. */
  keepOnly(wanted: ReadonlySet<string>, reason: () => Error): void {
    for (const [id, { controller, hasOutcome }] of this.#all) {
      if (!wanted.has(id) && !hasOutcome) controller.abort(reason())
    }
  }

  /** Breaks off everything. Resolves when all of it has ended. */
  async stop(reason: () => Error): Promise<void> {
    for (const { controller } of this.#all.values()) controller.abort(reason())
    await Promise.all([...this.#all.values()].map(({ ended }) => ended))
  }
}
