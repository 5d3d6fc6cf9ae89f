import type { Context } from 'hono'

/** What the listener on TCP tells the app of each request; a request over the owner's socket, or in process, has none. */
export const OVER_NETWORK = { network: true } as const

/** Did the request come over TCP? */
export const isOverNetwork = (c: Context): boolean =>
  (c.env as { readonly network?: boolean } | undefined)?.network === true
