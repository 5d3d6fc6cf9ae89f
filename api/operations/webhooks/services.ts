import type { NoticeType } from '../../../domain/stream/notice.ts'

export interface Attempted {
  readonly at: string
  readonly message: string
}

/** A webhook of the settings, and how its deliveries do. */
export interface WebhookState {
  readonly name: string
  /** Only the origin of the URL: some receivers have a secret in its path. */
  readonly target: string
  /** Null: notices of every type. */
  readonly types: readonly NoticeType[] | null
  /** Events of the log that are not handled yet, counted up to 1,000. */
  readonly behind: number | null
  readonly deliveredAt: string | null
  /** The last failed delivery since the last success. */
  readonly failure: Attempted | null
  /** Why nothing is sent any more. */
  readonly stopped: Attempted | null
}

export interface Webhooks {
  list(): Promise<readonly WebhookState[]>
  /** Sends a test notice once. `fault` null: the receiver took it. Null: no webhook has this name. */
  test(name: string): Promise<{ readonly status: number | null; readonly fault: string | null } | null>
}

export const NO_WEBHOOKS: Webhooks = { list: async () => [], test: async () => null }
