import { callWithoutText } from '../../calls/call.ts'
import { StateDigest } from '../../stream/state-digest.ts'
import { graphWithoutText } from '../tasks/state.ts'
import { compressionWithoutText } from '../window/compression-state.ts'
import { type AgentState, activityOf, BLANK, type StateMachine } from './state.ts'

// The digest is part of the storage format. Raise FOLD for any change of what it covers, except a new member.

/** Version of the fold and of the view that digests cover. */
export const AGENT_FOLD = 2

/**
 * Members that the digest excludes. `hashSalt` can be erased with its body, `lastText` is derived from the
 * messages, and the hash of its event covers the spec.
 */
const NOT_COVERED: ReadonlySet<string> = new Set<keyof AgentState>(['hashSalt', 'lastText', 'spec'])

/** A machine without its texts, which can be erased. The hashes of the source events cover the texts. */
function machineWithoutText(machine: StateMachine): unknown {
  if (machine.status === 'ERROR') return { status: machine.status, code: machine.code }
  const activity = activityOf(machine)
  if (activity === null || activity.status === 'THINKING' || activity.calls.length === 0) return machine
  const shown = { ...activity, calls: activity.calls.map(callWithoutText) }
  return machine.status === 'RECOVERY' ? { ...machine, activity: shown } : shown
}

const digests = new StateDigest<AgentState>({
  members: (Object.keys(BLANK) as (keyof typeof BLANK)[]).filter((name) => !NOT_COVERED.has(name)),
  initial: BLANK,
  // Text can be erased.
  shown: {
    cancel: ({ reason: _, ...cancel }) => cancel,
    compression: compressionWithoutText,
    machine: machineWithoutText,
    prompt: ({ system: _, ...prompt }) => prompt,
    tasks: graphWithoutText,
  },
  fleeting: new Set(['clock', 'context', 'failedModels', 'machine', 'messages', 'spent'] as const),
})

/** The digest of a folded state, hex SHA-256. Growing parts are covered by their roots. */
export const digestOf = (state: AgentState): string => digests.byHashes(state, `keepup-fold-${AGENT_FOLD}`)

/** The digest under an earlier fold; null: unknown. Fold 1 covered the texts of all members. */
export const earlierDigest = (fold: number, state: AgentState): string | null =>
  fold === 1 ? digests.byTexts(state, 'keepup-fold-1') : null
