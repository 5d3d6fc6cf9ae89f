import type { DriveEnd } from '../../../tree/runtime/drive.ts'
import { isFinished } from '../../state/state.ts'
import { endOf } from '../drive-end.ts'
import type { Member } from './member.ts'

type Waiting = Extract<DriveEnd, { end: 'waiting' }>

/** Sorted by how directly a person can act on the end. */
const ORDER: readonly Waiting['for'][] = ['doubt', 'approval', 'pause', 'input']

/**
 * The end of a run's drive when all agents rest: the root's end, or the agents' reason to wait. Null: the agents wait
 * for each other or for a time.
 */
export function endOfRun(root: Member, members: readonly Member[]): DriveEnd | null {
  // The last look at a finished root may have failed, so it does not rest.
  const rest = isFinished(root.state) ? endOf(root.state) : root.rest
  if (rest !== null && rest.end !== 'resting' && rest.end !== 'waiting') return rest
  if (members.some((one) => one.rest?.end === 'interrupted')) return { end: 'interrupted' }
  const waiting = members.flatMap(({ agentId, rest: one }) => (one?.end === 'waiting' ? [{ agentId, ...one }] : []))
  // Prefer the root's reason: requests to the run go to its root.
  const first =
    waiting.find(({ agentId }) => agentId === root.agentId) ??
    waiting.sort((a, b) => ORDER.indexOf(a.for) - ORDER.indexOf(b.for))[0]
  if (first === undefined) return null
  const toolCallIds = [...new Set([...first.toolCallIds, ...waiting.flatMap((one) => one.toolCallIds)])]
  const below = first.agentId === root.agentId ? {} : { agentId: first.agentId }
  return { end: 'waiting', for: first.for, toolCallIds, ...below }
}
