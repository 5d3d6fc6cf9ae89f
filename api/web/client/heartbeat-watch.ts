/** The heartbeat interval of a server that sends no `keepup-heartbeat-ms` header, in ms. */
const HEARTBEAT = 15_000
/** Missed heartbeats before a stream counts as silent. The cause is a computer that slept or a proxy that buffers. */
const MISSED = 3

/** Watches one connection and aborts it after missed heartbeats. */
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

  /** Takes the heartbeat interval from the server's answer. */
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
