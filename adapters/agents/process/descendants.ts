import { signalTo } from '../../processes/group.ts'
import { killCgroup } from '../../sandbox/cgroup.ts'
import { hasInEnvironment, processes } from '../../sandbox/process-table.ts'
import { endMarked, MARKER } from '../../sandbox/registry.ts'

/** The processes of one agent. */
export interface ProcessFamily {
  /** The marker that all of these processes have in their environment. */
  readonly id: string
  /** The leader of the process group that keepup started. */
  readonly leader: number
  readonly cgroup: string | null
  /**
   * The pid, outside the process namespace, of the namespace's first process; null until it is known. Absent: no
   * namespace.
   */
  readonly namespace?: () => number | null
}

/** Sends SIGTERM to all processes except bubblewrap, which would die of it and kill the others. */
export function askToEnd({ id, leader, namespace }: ProcessFamily): void {
  const spared = new Set(namespace === undefined ? [] : [leader, namespace()])
  if (namespace === undefined) signalTo(-leader, 'SIGTERM')
  for (const { pid, environment } of processes())
    if (!spared.has(pid) && environment().includes(`${MARKER}=${id}\0`)) signalTo(pid, 'SIGTERM')
}

/** Kills all processes with SIGKILL. */
export function endByForce({ id, leader, cgroup, namespace }: ProcessFamily): void {
  signalTo(-leader, 'SIGKILL')
  const first = namespace?.() ?? null
  // The death of a namespace's first process ends all others. Check the marker first: another process may have this pid
  // now.
  if (first !== null && hasInEnvironment(first, `${MARKER}=${id}`)) signalTo(first, 'SIGKILL')
  if (cgroup !== null) killCgroup(cgroup, id)
  endMarked(id)
}
