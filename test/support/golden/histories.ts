import { World } from '../world.ts'
import { delegations, outside, seconded } from './delegations.ts'
import { PLANS } from './plans.ts'
import { RecordingLog } from './recording.ts'
import { contexts, tasks } from './tales-contexts.ts'
import { documents } from './tales-documents.ts'
import { ends, outages } from './tales-ends.ts'
import { continued, external, hosted, reported } from './tales-external.ts'
import { blobs, coder, files, results, secrets } from './tales-files.ts'
import { erased, forks } from './tales-forks.ts'
import { losses } from './tales-losses.ts'
import { bounces, messages } from './tales-messages.ts'
import { models } from './tales-models.ts'
import {
  approvals,
  approvers,
  doubts,
  late,
  people,
  permissions,
  questions,
  restores,
  revoked,
  voided,
} from './tales-people.ts'
import { reuse } from './tales-reuse.ts'
import { budgets, lateusage, lostbirths, plainstops, stops, trees, unread } from './tales-trees.ts'

/** Every recorded history by name. Running it again gives the same bytes. */
export const HISTORIES: Readonly<Record<string, () => Promise<RecordingLog>>> = {
  ...Object.fromEntries(Object.entries(PLANS).map(([name, plan]) => [name, () => lived(plan)])),
  ...{
    approvals,
    approvers,
    blobs,
    bounces,
    budgets,
    coder,
    contexts,
    continued,
    delegations,
    documents,
    doubts,
    ends,
    erased,
    external,
    hosted,
    files,
    forks,
    late,
    lateusage,
    losses,
    lostbirths,
    messages,
    models,
    outages,
    outside,
    people,
    permissions,
    questions,
    reported,
    revoked,
    plainstops,
    restores,
    results,
    reuse,
    secrets,
    seconded,
    stops,
    tasks,
    trees,
    unread,
    voided,
  },
}

async function lived(plan: (typeof PLANS)[string]): Promise<RecordingLog> {
  const log = new RecordingLog()
  await new World(plan, [], log).live()
  return log
}
