import type { Clock, Random } from '../../domain/ports/index.ts'

// This module does not import the client, so programs that need only the options do not load its types.

/** Time limits, in ms. */
export interface TimeLimits {
  /** keepup replaces the client if an attempt of a call gets no answer for this long. */
  readonly callMs: number
  /** keepup retries a call for this long. Then the call rejects, and its outcome may be unknown. */
  readonly patienceMs: number
  /** The silence after which a subscription is replaced. */
  readonly silenceMs: number
}

/** The server, and the names of the streams on it. */
export interface EventStoreLogOptions {
  /** `esdb://host:port?tls=false`, `esdb://user:password@a:2113,b:2113,c:2113`, `esdb+discover://…`. */
  readonly connectionString: string
  /** Streams are named `<namespace>.<stream>`: two deployments on one server do not see each other. `[a-z][a-z0-9]*` */
  readonly namespace: string
  readonly limits?: Partial<TimeLimits>
  /** True: never creates a log. Rejects with `LOG_MISSING` if there is none. */
  readonly looks?: boolean
  readonly clock?: Pick<Clock, 'now'>
  readonly random?: Random
  /**
   * Called when the log may be in an older state: before appends over a new streaming call, and when the log lacks an
   * event that this process has seen. Appends wait for it and reject with its error.
   */
  readonly onDoubt?: () => Promise<void>
  /** Receives warnings about silent servers and about events of other programs in the namespace. */
  readonly warn?: (text: string) => void
}
