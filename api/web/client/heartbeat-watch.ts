/** A server that tells no heartbeat speaks at least so often, ms. */
const HEARTBEAT = 15_000
/** Heartbeats that fail before a stream counts as silent: a computer has slept, or something between holds it up. */
const MISSED = 3

/** Listens to one connection, and breaks it off where the server's heartbeat fails. */
export class HeartbeatWatch {
  readonly #over = new AbortController()
  readonly signal: AbortSignal
  isSilent = false
  #patience = MISSED * HEARTBEAT
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(signal: AbortSignal) {
    this.signal = AbortSignal.any([signal, this.#over.signal])
    this.beat()
  }

  /** The server tells how often it speaks at least. */
  expect({ headers }: Response): void {
    this.#patience = MISSED * (Number(headers.get('keepup-heartbeat-ms')) || HEARTBEAT)
    this.beat()
  }

  beat(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.isSilent = true
      this.#over.abort()
    }, this.#patience)
  }

  end(): void {
    clearTimeout(this.#timer)
  }
}
