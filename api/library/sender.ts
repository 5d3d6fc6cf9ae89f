/** The person of a command, and an idempotency key. */
export interface Saying {
  readonly by?: string
  readonly key?: string
}
