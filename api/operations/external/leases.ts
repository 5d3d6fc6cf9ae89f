import type { Clock } from '../../../domain/ports/index.ts'

/** The lock during an external agent's run. */
export interface HeldLease {
  /** Aborts when other processes may take the lease. */
  readonly lost: AbortSignal
  release(): Promise<void>
}

/** Takes the lease of a run. Null: another process has it. */
export type AgentLease = (agentId: string) => Promise<HeldLease | null>

/** The pause between two attempts to retake a lost lease, in ms. */
const AGAIN_MS = 1_000

/**
 * Keeps the lease of a run until the work has ended, and retakes a lost one. Resolves after the first attempt. The
 * lease only keeps other processes from checking the run. The epoch in the log decides which process drives. A run that
 * was taken over ends its process.
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

/** Runs `act` under the lease. False: another process has the lease. */
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
