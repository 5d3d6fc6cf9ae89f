export {
  type Aged,
  type AgedKind,
  type AgedPlace,
  agedSubjects,
  type Participation,
  participationsIn,
  sumsOfUses,
} from './access/queries.ts'
export { openKeptSource } from './agent/kept-source.ts'
export { listApprovals } from './agent/queries/approvals.ts'
export { type ApprovalSubject, approvalSubject, argumentsOf } from './agent/queries/arguments.ts'
export { listArtifacts } from './agent/queries/artifacts.ts'
export { listDoubts, listQuestions, type OpenCall } from './agent/queries/asks.ts'
export { findCheckpoint, type StoredCheckpoint, selectCheckpoints, usageAt } from './agent/queries/checkpoints.ts'
export { type CauseFigures, type CostFigures, type CostGrouping, costBy, costByCauseOf } from './agent/queries/cost.ts'
export { type CallDecisionWithSupports, selectDecisions } from './agent/queries/decisions.ts'
export { failedCallEnds } from './agent/queries/failed-calls.ts'
export { searchFiles } from './agent/queries/files.ts'
export type { MachineStateName } from './agent/queries/machine-state.ts'
export { type MessageRow, selectMessages } from './agent/queries/messages.ts'
export { type RunFigures, runFigures } from './agent/queries/metrics.ts'
export { type Figures, numbersOf } from './agent/queries/numbers/index.ts'
export { listOrphans, type Orphan } from './agent/queries/orphans.ts'
export { type Ancestor, type WithPaths, withPaths } from './agent/queries/paths.ts'
export { type RecordedChild, recordedChildren } from './agent/queries/recorded-children.ts'
export { requestersOf } from './agent/queries/requesters.ts'
export { listRestoring } from './agent/queries/restoring.ts'
export { type AgentTreeNode, agentHeads, agentTree, type RunShown, showRun, showTree } from './agent/queries/run.ts'
export type { RunFilter, RunStatusName } from './agent/queries/run-filter.ts'
export { type RunSummary, type RunsPage, selectRuns } from './agent/queries/runs.ts'
export { supportersOfCall, withSupports } from './agent/queries/supports.ts'
export { type FoundText, type Searched, searchTexts } from './agent/queries/texts.ts'
export { type UsageSum, usageBy } from './agent/queries/usage.ts'
export { type WaitingReason, waitingOf } from './agent/queries/waiting.ts'
export { agentChanges } from './agent/rows/index.ts'
export { listTags, notesOf } from './annotation/queries.ts'
export { selectDocuments } from './document/queries.ts'
export { type AlteredRow, alteredRows, strayRows } from './engine/altered-rows.ts'
export type { Change } from './engine/changes/change.ts'
export type { WakeReason } from './engine/changes/stream.ts'
export { otherLog, ProjectionError, type ProjectionErrorCode } from './engine/errors.ts'
export { rebuildElsewhere, releaseElsewhere } from './engine/other-process.ts'
export { Projector, type ProjectorOptions, type ProjectorStatus } from './engine/projector/projector.ts'
export { type Due, dueBefore, nextDue } from './engine/queries/due.ts'
export { eventStarts, eventsAfter, readEvent } from './engine/queries/events.ts'
export { callsOpenAfter, costAfter, type SeenCall, seenHead, seenHeads } from './engine/queries/loss-evidence.ts'
export { listParked } from './engine/queries/parked.ts'
export { type PlaceOfAgent, placesAt } from './engine/queries/places-at.ts'
export { findRow, listRows } from './engine/queries/rows.ts'
export { type StreamSeen, selectStreams } from './engine/queries/streams.ts'
export { mustBeOf, type RebuildOptions } from './engine/rebuild.ts'
export type { Database } from './engine/schema/database.ts'
export { type LogSource, openAudit } from './engine/store/audit.ts'
export type { Answer, Home, TableDifference } from './engine/store/home.ts'
export { MemoryHome } from './engine/store/memory-home.ts'
export type { Store } from './engine/store/store.ts'
export {
  countMemories,
  type MemoryFilter,
  type MemoryRow,
  searchMemories,
  selectMemories,
  showMemory,
} from './memory/queries.ts'
export { type FoldPast, foldPast, type PastFile, PastTables } from './past-tables.ts'
export { Projections, type ProjectionsOptions, type RebuildReport } from './projections.ts'
export { showAnchors } from './proof/queries.ts'
export {
  type ContextStoreRow,
  listContextStores,
  listStoredVariables,
  showContextStore,
  showStoredVariable,
} from './store/queries.ts'
export { threadTables } from './thread/tables.ts'
