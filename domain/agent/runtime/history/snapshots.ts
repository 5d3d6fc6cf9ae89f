import { idOf } from '../../../log/owner.ts'
import { type SnapshotForm, Snapshots } from '../../../stream/runtime/snapshots.ts'
import { agent } from '../../decide/aggregate.ts'
import { type AgentState, BLANK } from '../../state/state.ts'
import { agentSpecOf } from './spec.ts'

/** The cached part of a state. The spec always comes from the log, because other programs may write to the cache. */
type Kept = Omit<AgentState, 'spec'>

const form: SnapshotForm<AgentState> = {
  members: Object.keys(BLANK),
  keep: ({ spec: _, ...kept }) => kept,
  step: ({ step }) => step,
  async whole(stores, stream, kept) {
    const told = await agentSpecOf(stores, idOf(stream))
    const { specHash } = kept as Kept
    return told === null || told.hash !== specHash ? null : { ...(kept as Kept), spec: told.spec }
  },
}

export const agentSnapshots = new Snapshots(agent, form)
