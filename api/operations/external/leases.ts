import type { Clock } from '../../../domain/ports/index.ts'

/** The locks that are held while a run of another agent is at work. */
export interface HeldLease {
  /** Aborts when others may hold it. */
  readonly lost: AbortSignal
  release(): Promise<void>
}

/** Takes the lease of a run; null: another process holds it. */
export type AgentLease = (agentId: string) => Promise<HeldLease | null>

/** Between two attempts to take a lease again, ms. */
const AGAIN_MS = 1_000

/**
 * Holds the lease of a run until the work has ended, and takes it again where it was lost. Resolves when it was tried for the
 * first time. It only tells others not to look: the epoch in the log says who drives, and a run that was taken over ends its
 * process.
 */
export async function hold(take: AgentLease, agentId: string, clock: Clock, work: Promise<void>): Promise<void> {
  const attempt = () => take(agentId).catch(() => null)
  void keep(await attempt(), attempt, clock, work)
}

async function keep(
  first: HeldLease | null,
  attempt: () => Promise<HeldLease | null>,
  clock: Clock,
  ended: Promise<void>,
): Promise<void> {
  let over = false
  void ended.then(() => {
    over = true
  })
  for (let lease = first; ; lease = await attempt()) {
    if (lease === null) {
      await Promise.race([ended, clock.sleep(AGAIN_MS)])
      if (over) return
      continue
    }
    const { lost: signal } = lease
    const lost = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    await Promise.race([ended, lost])
    await lease.release()
    if (over) return
  }
}

/** Does `act` while no other process holds the lease; false: one does. */
export async function withLease(
  take: AgentLease | undefined,
  agentId: string,
  act: () => Promise<void>,
): Promise<boolean> {
  if (take === undefined) {
    await act()
    return true
  }
  const lease = await take(agentId)
  if (lease === null) return false
  try {
    await act()
  } finally {
    await lease.release()
  }
  return true
}
