import { access, RIGHTS_ID } from '../../../../domain/access/kind.ts'
import { type AccessState, evolveAccess } from '../../../../domain/access/state.ts'
import { ownHistory } from '../../../../domain/stream/runtime/history.ts'
import type { Services } from '../../services.ts'

/** The state of access at each position of the log. */
export interface RightsOverTime {
  /** The state before the event at a position; null: access was not set up. */
  before(position: number): AccessState | null
}

/** Reads all changes of rights. A state of before is the fold of the events before it. */
export async function rightsOverTime(s: Pick<Services, 'log' | 'blobs'>): Promise<RightsOverTime> {
  const states: { readonly position: number; readonly state: AccessState }[] = []
  let state: AccessState | null = null
  for await (const page of ownHistory(s, access, `${access.kind}-${RIGHTS_ID}`, 0, Number.POSITIVE_INFINITY))
    for (const { event, recorded } of page) {
      if (event.type === 'residue' || event.type === 'erased') continue
      state = evolveAccess(state, event)
      states.push({ position: recorded.position, state })
    }
  return { before: (position) => states.findLast((one) => one.position < position)?.state ?? null }
}
