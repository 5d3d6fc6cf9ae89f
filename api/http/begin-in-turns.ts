import type { MiddlewareHandler } from 'hono'

/** The most requests that begin in one turn of the event loop. Most take less than a millisecond of its thread. */
const MOST = 8

/**
 * Begins at most `most` requests in one turn of the event loop. The others wait for the next turns, in the order in which
 * they came. Hundreds of requests in one turn would block the event loop.
 */
export function beginInTurns(most = MOST): MiddlewareHandler {
  const waiting: (() => void)[] = []
  let begun = 0
  const nextTurn = () => {
    const due = waiting.splice(0, most)
    begun = due.length
    if (begun > 0) setImmediate(nextTurn)
    for (const begin of due) begin()
  }
  return async (_, next) => {
    if (begun === 0) setImmediate(nextTurn)
    if (begun === most) await new Promise<void>((begin) => waiting.push(begin))
    else begun += 1
    await next()
  }
}
