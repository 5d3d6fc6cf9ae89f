import type { Context } from 'hono'

/** The listener's facts of each request on TCP; a request over the owner's socket, or in process, has none. */
export const OVER_NETWORK = { network: true } as const

/** Did the request come over TCP? */
export const isOverNetwork = (c: Context): boolean =>
  (c.env as { readonly network?: boolean } | undefined)?.network === true
