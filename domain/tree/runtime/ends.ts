import type { DriveEnd } from '../../agent/runtime/types.ts'
import type { Member } from './member.ts'

type Waiting = Extract<DriveEnd, { end: 'waiting' }>

/** The end that a person can act on most comes first. */
const ORDER: readonly Waiting['for'][] = ['doubt', 'approval', 'pause', 'input']

/**
 * How the drive of a run ends whose agents are all at rest: as its root does, or with what its agents wait for. Null: they
 * wait for each other, or for a time to come.
 */
export function endOfRun(root: Member, members: readonly Member[]): DriveEnd | null {
  const { rest } = root
  if (rest !== null && rest.end !== 'resting' && rest.end !== 'waiting') return rest
  if (members.some((one) => one.rest?.end === 'interrupted')) return { end: 'interrupted' }
  const waiting = members.flatMap(({ agentId, rest: one }) => (one?.end === 'waiting' ? [{ agentId, ...one }] : []))
  // The root's own reason first: what is asked of the run is asked of its root.
  const first =
    waiting.find(({ agentId }) => agentId === root.agentId) ??
    waiting.sort((a, b) => ORDER.indexOf(a.for) - ORDER.indexOf(b.for))[0]
  if (first === undefined) return null
  const toolCallIds = [...new Set([...first.toolCallIds, ...waiting.flatMap((one) => one.toolCallIds)])]
  const below = first.agentId === root.agentId ? {} : { agentId: first.agentId }
  return { end: 'waiting', for: first.for, toolCallIds, ...below }
}
