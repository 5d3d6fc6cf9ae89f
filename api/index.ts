import './node-version.ts'

// The package `@keepup/runtime`. `openKeepUp` opens a data folder; `createKeepUp` takes ports of your own. Tools:
// `@keepup/runtime/tools`.
//
// Seed 000 section 5 by its names, and the AgentState of seed 003. RecoveryConfig, ToolExecutionContext, SecurityPolicy, ErrorRecoveryPolicy and
// ContextManagementConfig are accepted by `start`, AiEnvelopeRequest by `documents.send`; DelegateToAgentInput is the input of the
// tool `delegate_to_agent`.

export { ClaudeCodeProvider, type ClaudeCodeProviderOptions } from '../adapters/agents/cli/claude-code-provider.ts'
export { MemoryBlobs } from '../adapters/memory/blobs.ts'
export { MemoryLog, type MemoryLogOptions } from '../adapters/memory/log.ts'
export { MemoryPositions } from '../adapters/memory/positions.ts'
export { MemorySnapshots } from '../adapters/memory/snapshots.ts'
export { MemoryVault } from '../adapters/memory/vault.ts'
export type { CompleteTaskInput } from '../domain/agent/control/complete-task.ts'
export type { DelegateToAgentInput } from '../domain/agent/control/delegate-to-agent.ts'
export type { UserCommand } from '../domain/agent/decide/commands.ts'
export type { HealthFigures, HealthThresholds } from '../domain/agent/routing/decision.ts'
export type { ModelRoutingDecision } from '../domain/agent/routing/routing.ts'
export type { Comparison } from '../domain/agent/rules/compare-histories.ts'
export type { PermittedCall } from '../domain/agent/runtime/history/permitted-calls.ts'
export type { RebuiltRequest } from '../domain/agent/runtime/history/rebuild-request.ts'
export type { RecordedDecision } from '../domain/agent/runtime/history/routing-decisions.ts'
export { ModelHealth } from '../domain/agent/runtime/model-health.ts'
export { Runtime } from '../domain/agent/runtime/runtime.ts'
export type { AgentAt, AgentServices, ReusedRecord, Verification } from '../domain/agent/runtime/types.ts'
export type { ToolCall } from '../domain/agent/state/point-details.ts'
export type { Block, Message, Usage } from '../domain/calls/content.ts'
export type { ToolErrorCode } from '../domain/calls/error-codes.ts'
export { CommandRejected, ModelError, ToolError } from '../domain/calls/errors.ts'
export type { ExecutionPolicy, Policy, SecurityPolicy, ToolExecutionContext } from '../domain/calls/policy-schema.ts'
export type { Effect, ToolSpec } from '../domain/calls/tools/tool-spec.ts'
export type { EnvelopeAnswer } from '../domain/document/envelope/answers.ts'
export type { AiEnvelopeRequest, Precondition } from '../domain/document/envelope/request.ts'
export { DocumentError, type DocumentErrorCode } from '../domain/document/errors.ts'
export { contextHash } from '../domain/document/model/context-hash.ts'
export type { Blame, BlamedPart, DocumentProof } from '../domain/document/runtime/history.ts'
export type { Imported } from '../domain/document/runtime/types.ts'
export type { HistoryEntry } from '../domain/document/stream/entry.ts'
export { AgentError, type AgentErrorCode } from '../domain/external/errors.ts'
export { AgentGateway, type GatewayOptions } from '../domain/external/runtime/gateway.ts'
export { type ExternalLogPorts, StreamExternalLog } from '../domain/external/runtime/stream-log.ts'
export type { Agent, AgentConfig, AgentResult, AgentStatus, OnComplete } from '../domain/external/spawn/agent.ts'
export {
  ProviderError,
  type ProviderErrorCode,
  SpawnError,
  type SpawnErrorCode,
} from '../domain/external/spawn/errors.ts'
export type { FunctionContext, FunctionSpec, RegisteredFunction } from '../domain/external/spawn/functions.ts'
export type { ChildResult, Merged, MergeName } from '../domain/external/spawn/merge.ts'
export type { RetryPolicy } from '../domain/external/spawn/retry-policy.ts'
export { AgentRuntime, type AgentRuntimeOptions } from '../domain/external/spawn/runtime/agent-runtime.ts'
export { EpisodicMemory } from '../domain/external/spawn/runtime/episodic-memory.ts'
export { FunctionRegistry } from '../domain/external/spawn/runtime/function-registry.ts'
export {
  type MergeStrategy,
  RecursiveSpawner,
  type RecursiveSpawnerOptions,
  type Spawned,
} from '../domain/external/spawn/runtime/recursive-spawner.ts'
export type { TokenUsage } from '../domain/external/spawn/token-usage.ts'
export { LogError, type LogErrorCode } from '../domain/log/errors.ts'
export type { Json, JsonObject } from '../domain/log/json.ts'
export { MemoryError, type MemoryErrorCode } from '../domain/memory/errors.ts'
export type * from '../domain/ports/external.ts'
export type * from '../domain/ports/index.ts'
export type { Environment, RuntimePorts, SecretBoundary } from '../domain/ports/runtime.ts'
export type * from '../domain/ports/spawn.ts'
export type { IContextStore, VariableRef, VariableType } from '../domain/ports/variables.ts'
export { ContextError, type ContextErrorCode } from '../domain/store/errors.ts'
export { ContextStore } from '../domain/store/runtime/store.ts'
export type { At } from '../domain/stream/point.ts'
export type { RoutingConfig, RoutingPolicy, RoutingRule } from '../domain/tree/routing-config.ts'
export type { DriveEnd } from '../domain/tree/runtime/drive.ts'
export type {
  AgentSpec,
  ContextManagementConfig,
  ModelInfo,
  RecoveryConfig,
  RoleDefinition,
} from '../domain/tree/spec.ts'
export type { Database } from '../projections/index.ts'
export type { AgentState } from './library/agent-state.ts'
export type { AnswerOf, Calls, ListName, RowOf, RowsAsked } from './library/calls.ts'
export type { Consume, Consuming, Handler } from './library/consumers/consume.ts'
export type { RowHandler } from './library/consumers/row-sink.ts'
export { type EventStoreLogOptions, openEventStoreLog } from './library/event-store.ts'
export type { ExportEvents, ExportTables } from './library/exports.ts'
export type { ForkRequest, KeepUp } from './library/keepup.ts'
export {
  type KeepUpOptions,
  type KeepUpSettings,
  type MemoryOptions,
  openKeepUp,
  type RoleInput,
} from './library/open-keepup.ts'
export { type OpenTables, openTables } from './library/open-tables.ts'
export type { ErrorRecoveryPolicy } from './library/retry-setting.ts'
export type { Saying } from './library/sender.ts'
export type { StartOptions } from './library/start-options.ts'
export type { DocumentPoint } from './operations/document/history.ts'
export type { DocumentsApi, DocumentUpdate } from './operations/document/library.ts'
export type { EventView as RuntimeEvent } from './operations/events/schemas.ts'
export { ExportError, type ExportErrorCode } from './operations/export/export-error.ts'
export type { ExportFormat } from './operations/export/manifest.ts'
export type { ExportedEvents } from './operations/export/write-events.ts'
export type { ExportedTables } from './operations/export/write-tables.ts'
export type { Checkpoint } from './operations/history/checkpoint.ts'
export type { Memory, MemoryHistory } from './operations/memory/schemas.ts'
export type { Hearing, RuntimeMessageBus, Sending } from './operations/messages/library.ts'
export type { Envelope as RuntimeMessage, MessageView, Sent } from './operations/messages/schemas.ts'
export type { KnownModel, KnownModels } from './operations/models/known-models.ts'
export { policyOf } from './operations/policy/library.ts'
export { Problem } from './operations/problem.ts'
export type { ApprovalRow, ReadModel, RunRow } from './operations/read-model.ts'
export type { Ended } from './operations/runs/drive-end.ts'
export type { RunTree, StartedRun, VerifiedRun } from './operations/runs/schemas.ts'
export type { Services } from './operations/services.ts'
export type { StoredVariable, StoreSummary, VariablesErased } from './operations/store/schemas.ts'
export { ConfigError } from './process/config/settings.ts'
export { createKeepUp, type KeepUpPorts } from './process/create-keepup.ts'
export { VERSION } from './version.ts'
