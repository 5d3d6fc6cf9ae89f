import { agents } from './agents.ts'
import { approvals, standingApprovals } from './approvals.ts'
import { artifactRows } from './artifact-rows.ts'
import type { Change } from './change.ts'
import { checkpointRows } from './checkpoint-rows.ts'
import { due } from './due.ts'
import { erasures } from './erasures.ts'
import type { Seen } from './event.ts'
import { contextVariables, gateChecks, modelRoutes, phases, workspaceVersions } from './history.ts'
import { inputs } from './inputs.ts'
import { modelCalls } from './model-calls.ts'
import { runs } from './runs.ts'
import { toolCalls } from './tool-calls.ts'
import { touchedFiles } from './touched-files.ts'

const all: readonly ((event: Seen) => Change[])[] = [
  runs,
  agents,
  inputs,
  toolCalls,
  touchedFiles,
  modelCalls,
  modelRoutes,
  phases,
  gateChecks,
  contextVariables,
  workspaceVersions,
  checkpointRows,
  artifactRows,
  approvals,
  standingApprovals,
  due,
  erasures,
]

/** What an event changes, in all tables. Pure: the same event always gives the same changes. */
export function changesOf(event: Seen): Change[] {
  const changes: Change[] = []
  for (const table of all) for (const change of table(event)) changes.push(change)
  return changes
}
