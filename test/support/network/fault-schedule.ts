import { setTimeout as wait } from 'node:timers/promises'
import type { Fault, FaultProxy } from './fault-proxy.ts'

const KINDS = ['cut', 'reset', 'delay', 'stall', 'silence', 'limit', 'limit', 'refuse'] as const

/** A fault of a link, and how long the network stays faulty, in ms. */
export interface Planned extends Fault {
  readonly link: number
  readonly forMs: number
}

/** Draws the next fault of one of `links` proxies. */
export function drawFault(draw: (below: number) => number, links: number): Planned {
  const kind = KINDS[draw(KINDS.length)]!
  const direction = draw(2) === 0 ? 'up' : 'down'
  // A gRPC message of a few events has about 2 KiB, and so has a statement of the projector.
  const amount = kind === 'limit' ? 1 + draw(6_000) : 20 + draw(400)
  return { kind, direction, amount, link: draw(links), forMs: 50 + draw(2_000) }
}

/** Lets the links fail one after another, with pauses in which all of them work, until the signal aborts. */
export async function disturb(
  proxies: readonly FaultProxy[],
  draw: (below: number) => number,
  signal: AbortSignal,
): Promise<readonly Planned[]> {
  const done: Planned[] = []
  while (!signal.aborted) {
    const fault = drawFault(draw, proxies.length)
    done.push(fault)
    proxies[fault.link]!.apply(fault)
    await wait(fault.forMs, undefined, { signal }).catch(() => undefined)
    proxies[fault.link]!.heal()
    await wait(draw(500), undefined, { signal }).catch(() => undefined)
  }
  return done
}
