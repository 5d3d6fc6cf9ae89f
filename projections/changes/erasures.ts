import { actorText } from '../text.ts'
import { type Change, put } from './change.ts'
import type { Seen } from './event.ts'

/** Changes of `erasures`: which bodies are gone, and who says why. */
export function erasures(e: Seen): Change[] {
  const changes: Change[] = []
  if (e.erased) changes.push(put('erasures', { agent_id: e.agentId, revision: e.revision }, { seen: 1 }))
  if (e.type === 'erased' && e.body) {
    const said = { reason: e.body.reason, by: actorText(e.actor), at: e.time }
    for (const { revision } of e.body.bodies) changes.push(put('erasures', { agent_id: e.agentId, revision }, said))
  }
  return changes
}
