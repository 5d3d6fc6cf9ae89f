/** Runs at most `count` pieces of work at once; the others wait in order of arrival. */
export class Semaphore {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  /** Waiting work leaves the queue when `signal` aborts, and rejects with its reason. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted()
    // With a free place the work starts synchronously, so the caller can see its first effects.
    if (!this.#taken()) await this.#turn(signal)
    try {
      return await work()
    } finally {
      this.#give()
    }
  }

  /** Within {@link run}: frees the place for other work while `work` runs, then waits for a place again. */
  async lend<T>(work: () => Promise<T>): Promise<T> {
    this.#give()
    try {
      return await work()
    } finally {
      if (!this.#taken()) await this.#turn()
    }
  }

  #taken(): boolean {
    if (this.#free === 0) return false
    this.#free--
    return true
  }

  #turn(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1)
        reject(signal?.reason)
      }
      const begin = () => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      signal?.addEventListener('abort', leave, { once: true })
      this.#waiting.push(begin)
    })
  }

  #give(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#free++
  }
}

export class Mutex extends Semaphore {
  constructor() {
    super(1)
  }
}

/** One piece of work at a time for each key. An unused key takes no memory. */
export class KeyedMutex {
  readonly #held = new Map<string, { readonly mutex: Mutex; users: number }>()

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const held = this.#held.get(key) ?? { mutex: new Mutex(), users: 0 }
    this.#held.set(key, held)
    held.users++
    try {
      return await held.mutex.run(work)
    } finally {
      held.users--
      if (held.users === 0) this.#held.delete(key)
    }
  }
}
