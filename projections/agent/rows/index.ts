import { agent } from '../../../domain/agent/decide/aggregate.ts'
import type { Change } from '../../engine/changes/change.ts'
import { rowRules } from '../../engine/changes/projection.ts'
import { set, tables } from '../changes.ts'
import { agents } from './agents.ts'
import { approvals, standingApprovals } from './approvals.ts'
import { referenceOf, withCallArguments } from './arguments.ts'
import { artifactRows } from './artifact-rows.ts'
import { checkpointRows } from './checkpoint-rows.ts'
import { decisions, supports } from './decisions.ts'
import { decodeAgentEvent } from './decode.ts'
import type { ProjectedEvent } from './event.ts'
import { contextVariables, gateChecks, modelRoutes, phases, workspaceVersions } from './history.ts'
import { inputs } from './inputs.ts'
import { messageReceipts, messages } from './messages.ts'
import { modelCalls } from './model-calls.ts'
import { permissions } from './permissions.ts'
import { restores } from './restores.ts'
import { runs } from './runs.ts'
import { tasks } from './tasks.ts'
import { texts } from './texts.ts'
import { toolCalls } from './tool-calls.ts'
import { touchedFiles } from './touched-files.ts'
import { artifactRegistrations, bounces, budgetChanges, children } from './tree.ts'

const rules: readonly ((event: ProjectedEvent) => Change[])[] = [
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
  decisions,
  supports,
  standingApprovals,
  permissions,
  tasks,
  restores,
  children,
  budgetChanges,
  artifactRegistrations,
  bounces,
  messages,
  messageReceipts,
  texts,
]

/** The row changes of an agent's event, in all tables. Pure: the same event always gives the same changes. */
export function agentChanges(event: ProjectedEvent): Change[] {
  const changes: Change[] = []
  for (const rule of rules) for (const change of rule(event)) changes.push(change)
  return changes
}

export const agentRowRules = rowRules(agent, tables, {
  decode: decodeAgentEvent,
  changes: agentChanges,
  referenceOf,
  withReferred: withCallArguments,
  parked: (id, revision) => [set('agents', { id }, { incomplete_from: revision })],
})
