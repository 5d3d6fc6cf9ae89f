export { type AlteredRow, alteredRows, strayRows } from './altered-rows.ts'
export { changesOf } from './changes/agent/index.ts'
export type { Change } from './changes/change.ts'
export type { WakeReason } from './changes/stream.ts'
export { rebuildElsewhere, releaseElsewhere } from './elsewhere.ts'
export { otherLog, ProjectionError, type ProjectionErrorCode } from './errors.ts'
export { Projections, type ProjectionsOptions, type RebuildReport } from './projections.ts'
export { Projector, type ProjectorOptions, type ProjectorStatus } from './projector/projector.ts'
export { approvalArguments, argumentsOf } from './queries/arguments.ts'
export { listDoubts, listQuestions, type OpenCall } from './queries/asks.ts'
export { type CheckpointRow, findCheckpoint, listCheckpoints, usageAt } from './queries/checkpoints.ts'
export {
  type ContextStoreRow,
  listContextStores,
  listStoredVariables,
  showContextStore,
  showStoredVariable,
} from './queries/context-stores.ts'
export { type Cost, type CostBy, costBy } from './queries/cost.ts'
export { type Due, dueBefore, nextDue } from './queries/due.ts'
export { eventStarts, eventsAfter, readEvent } from './queries/events.ts'
export { listApprovals, listArtifacts, listDocuments, listParked } from './queries/lists.ts'
export type { MachineState } from './queries/machine-state.ts'
export {
  countMemories,
  listMemories,
  type MemoryFilter,
  type MemoryRow,
  searchMemories,
  showMemory,
} from './queries/memories.ts'
export { listMessages, type MessageRow } from './queries/messages.ts'
export { type Numbers, numbersOf } from './queries/numbers/index.ts'
export { listOrphans, type Orphan } from './queries/orphans.ts'
export { type Ancestor, type WithPaths, withPaths } from './queries/paths.ts'
export { type PlaceOfAgent, placesAt } from './queries/places-at.ts'
export { type RecordedChild, recordedChildren } from './queries/recorded-children.ts'
export { listRestoring } from './queries/restoring.ts'
export { type AgentNode, agentHeads, type RunShown, showRun, showTree, treeOf } from './queries/run.ts'
export type { RunFilter, RunStatus } from './queries/run-filter.ts'
export { listRuns, type RunSummary, type RunsPage } from './queries/runs.ts'
export { listStreams, type StreamSeen } from './queries/streams.ts'
export { type UsageSum, usageBy } from './queries/usage.ts'
export { type Waiting, waitingOf } from './queries/waiting.ts'
export { callsOpenAfter, costAfter, type SeenCall, seenHead, seenHeads } from './queries/witness.ts'
export { mustBeOf, type RebuildOptions } from './rebuild.ts'
export type { Database } from './schema/database.ts'
export { type LogSource, openAudit } from './store/audit.ts'
export type { Answer, Difference, Home } from './store/home.ts'
export type { Store } from './store/store.ts'
