import type { Context } from 'hono'

/**
 * The environment of requests over TCP. Requests over the owner's socket or in process do not have it. `address`: the
 * remote address of the connection. Headers of proxies do not count, because any client can send them.
 */
export const overNetwork = (address: string | null) => ({ network: true, address }) as const

/** The environment of requests over TCP from an unknown address. */
export const OVER_NETWORK = overNetwork(null)

type Environment = Partial<ReturnType<typeof overNetwork>> | undefined

/** Whether the request came over TCP. */
export const isOverNetwork = (c: Context): boolean => (c.env as Environment)?.network === true

/** The remote address of a request over TCP. Null: unknown, or not over TCP. */
export const addressOf = (c: Context): string | null => (c.env as Environment)?.address ?? null
