import type { Clock, Random } from '../../domain/ports/index.ts'

// Apart from what uses the client, whose types a program that only names these need not read.

/** Time limits, in ms. */
export interface Limits {
  /** The longest silence of one try of one call; then the client is replaced. */
  readonly callMs: number
  /** How long a call is tried again before its caller is told that nothing is known. */
  readonly patienceMs: number
  /** After so long a silence a subscription is made anew. */
  readonly silenceMs: number
}

export interface EventStoreLogOptions {
  /** `esdb://host:port?tls=false`, `esdb://user:password@a:2113,b:2113,c:2113`, `esdb+discover://…`. */
  readonly connectionString: string
  /** Streams are named `<namespace>.<stream>`: two deployments on one server do not see each other. `[a-z][a-z0-9]*` */
  readonly namespace: string
  readonly limits?: Partial<Limits>
  /** Makes no log: where there is none it is `LOG_MISSING`. */
  readonly looks?: boolean
  readonly clock?: Pick<Clock, 'now'>
  readonly random?: Random
  /**
   * Called where the log may be in an older state: before appends over a new streaming call, and when the log lacks what
   * this process has seen. Appends wait for it, and reject as it does.
   */
  readonly onDoubt?: () => Promise<void>
  /** Receives warnings: silent servers, and events of other programs in the namespace. */
  readonly warn?: (text: string) => void
}
