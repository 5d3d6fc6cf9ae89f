import type { Context } from 'hono'

/** The environment of requests over TCP. Requests over the owner's socket or in process do not have it. */
export const OVER_NETWORK = { network: true } as const

/** Whether the request came over TCP. */
export const isOverNetwork = (c: Context): boolean =>
  (c.env as { readonly network?: boolean } | undefined)?.network === true
