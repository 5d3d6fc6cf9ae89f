import { killCgroup } from '../../sandbox/cgroup.ts'
import { signalTo } from '../../sandbox/process.ts'
import { hasInEnvironment, processes } from '../../sandbox/process-table.ts'
import { endMarked, MARKER } from '../../sandbox/registry.ts'

/** The processes of one agent, as they are found when they are to be ended. */
export interface Family {
  /** The id that all of them bear in their environment. */
  readonly id: string
  /** The leader of the group that we started. */
  readonly leader: number
  readonly cgroup: string | null
  /** In a process namespace: its first process, by its id outside; null while it is not known. Absent: no namespace. */
  readonly namespace?: () => number | null
}

/** Asks all processes to end. bubblewrap itself would die of it and end the rest by force, so that it is left out. */
export function askToEnd({ id, leader, namespace }: Family): void {
  const spared = new Set(namespace === undefined ? [] : [leader, namespace()])
  if (namespace === undefined) signalTo(-leader, 'SIGTERM')
  for (const { pid, environment } of processes())
    if (!spared.has(pid) && environment().includes(`${MARKER}=${id}\0`)) signalTo(pid, 'SIGTERM')
}

/** Ends all processes by force. */
export function endByForce({ id, leader, cgroup, namespace }: Family): void {
  signalTo(-leader, 'SIGKILL')
  const first = namespace?.() ?? null
  // The first process of a namespace takes all others with it. By its marker, since its id may be another's by now.
  if (first !== null && hasInEnvironment(first, `${MARKER}=${id}`)) signalTo(first, 'SIGKILL')
  if (cgroup !== null) killCgroup(cgroup, id)
  endMarked(id)
}
