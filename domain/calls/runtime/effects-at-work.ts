interface AtWork {
  readonly controller: AbortController
  readonly ended: Promise<void>
  hasOutcome: boolean
}

export class EffectsAtWork {
  readonly #all = new Map<string, AtWork>()
  readonly #over: () => void

  /** `over`: called whenever an effect has ended. */
  constructor(over: () => void) {
    this.#over = over
  }

  get size(): number {
    return this.#all.size
  }

  has(id: string): boolean {
    return this.#all.has(id)
  }

  /** Starts an effect, which runs until the promise of `perform` settles. `perform` must not reject. */
  start(id: string, perform: (signal: AbortSignal) => Promise<void>): void {
    const controller = new AbortController()
    const ended = perform(controller.signal).finally(() => {
      this.#all.delete(id)
      this.#over()
    })
    this.#all.set(id, { controller, ended, hasOutcome: false })
  }

  /** Marks an effect as ended by itself, so that it is not aborted when its recorded outcome makes it no longer due. */
  outcome(id: string): void {
    const one = this.#all.get(id)
    if (one !== undefined) one.hasOutcome = true
  }

  /** Aborts effects that are no longer due. `reason`: called only if needed. */
  keepOnly(wanted: ReadonlySet<string>, reason: () => Error): void {
    for (const [id, { controller, hasOutcome }] of this.#all) {
      if (!wanted.has(id) && !hasOutcome) controller.abort(reason())
    }
  }

  /** Aborts all effects. Resolves when all have ended. */
  async stop(reason: () => Error): Promise<void> {
    for (const { controller } of this.#all.values()) controller.abort(reason())
    await Promise.all([...this.#all.values()].map(({ ended }) => ended))
  }
}
