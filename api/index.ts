import './node-version.ts'

// The package `@keepup/runtime`. `openKeepUp` opens a data folder; `createKeepUp` takes ports of your own. Tools:
// `@keepup/runtime/tools`.
//
// Seed 000 section 5 by its names, and the AgentState of seed 003. RecoveryConfig, ToolExecutionContext, SecurityPolicy, ErrorRecoveryPolicy and
// ContextManagementConfig are accepted by `start`, AiEnvelopeRequest by `documents.send`; DelegateToAgentInput is the input of the
// tool `delegate_to_agent`.

export { ClaudeCodeProvider, type ClaudeCodeProviderOptions } from '../adapters/agents-cli/claude-code-provider.ts'
export type { CompleteTaskInput } from '../domain/agent/control/complete-task.ts'
export type { DelegateToAgentInput } from '../domain/agent/control/delegate-to-agent.ts'
export type { UserCommand } from '../domain/agent/decisions/commands.ts'
export type {
  HealthFigures,
  HealthThresholds,
  RoutingConfig,
  RoutingPolicy,
  RoutingRule,
} from '../domain/agent/definition/routing.ts'
export type {
  AgentSpec,
  ContextManagementConfig,
  ExecutionPolicy,
  ModelInfo,
  Policy,
  RecoveryConfig,
  RoleDefinition,
  SecurityPolicy,
  ToolExecutionContext,
} from '../domain/agent/definition/spec.ts'
export type { Effect, ToolSpec } from '../domain/agent/definition/tools.ts'
export type { ToolErrorCode } from '../domain/agent/error-codes.ts'
export { CommandRejected, ModelError, ToolError } from '../domain/agent/errors.ts'
export type { Block, Message, Usage } from '../domain/agent/events/content.ts'
export type { Comparison } from '../domain/agent/rules/compare-histories.ts'
export type { ModelRoutingDecision } from '../domain/agent/rules/routing.ts'
export type { ToolCall } from '../domain/agent/state/point-details.ts'
export { ContextError, type ContextErrorCode } from '../domain/context/errors.ts'
export type { VariableRef, VariableType } from '../domain/context/variable.ts'
export type { Answer as EnvelopeAnswer } from '../domain/document/envelope/answers.ts'
export type { AiEnvelopeRequest, Precondition } from '../domain/document/envelope/request.ts'
export { DocumentError, type DocumentErrorCode } from '../domain/document/errors.ts'
export { contextHash } from '../domain/document/model/context-hash.ts'
export type { HistoryEntry } from '../domain/document/stream/entry.ts'
export { AgentError, type AgentErrorCode } from '../domain/external/errors.ts'
export { LogError, type LogErrorCode } from '../domain/log/errors.ts'
export type { Json, JsonObject } from '../domain/log/json.ts'
export { MemoryError, type MemoryErrorCode } from '../domain/memory/errors.ts'
export type * from '../domain/ports/external.ts'
export type * from '../domain/ports/spawn.ts'
export type * from '../domain/ports.ts'
export type { PermittedCall } from '../domain/runtime/agent/history/permitted-calls.ts'
export type { RebuiltRequest } from '../domain/runtime/agent/history/rebuild-request.ts'
export type { RecordedDecision } from '../domain/runtime/agent/history/routing-decisions.ts'
export { ModelHealth } from '../domain/runtime/agent/model-health.ts'
export { Runtime } from '../domain/runtime/agent/runtime.ts'
export { ContextStore, type IContextStore } from '../domain/runtime/context/store.ts'
export type { Blame, BlamedPart, DocumentProof } from '../domain/runtime/document/history.ts'
export type { Imported } from '../domain/runtime/document/types.ts'
export { AgentGateway, type GatewayOptions } from '../domain/runtime/external/gateway.ts'
export { type ExternalLogPorts, StreamExternalLog } from '../domain/runtime/external/stream-log.ts'
export type { Environment, RuntimePorts, SecretBoundary } from '../domain/runtime/ports.ts'
export { AgentRuntime, type AgentRuntimeOptions } from '../domain/runtime/spawn/agent-runtime.ts'
export { EpisodicMemory } from '../domain/runtime/spawn/episodic-memory.ts'
export { FunctionRegistry } from '../domain/runtime/spawn/function-registry.ts'
export {
  type MergeStrategy,
  RecursiveSpawner,
  type RecursiveSpawnerOptions,
  type Spawned,
} from '../domain/runtime/spawn/recursive-spawner.ts'
export type { AgentAt, AgentServices, At, DriveEnd, ReusedRecord, Verification } from '../domain/runtime/types.ts'
export type { Agent, AgentConfig, AgentResult, AgentStatus, OnComplete } from '../domain/spawn/agent.ts'
export { ProviderError, type ProviderErrorCode, SpawnError, type SpawnErrorCode } from '../domain/spawn/errors.ts'
export type { FunctionContext, FunctionSpec, RegisteredFunction } from '../domain/spawn/functions.ts'
export type { ChildResult, Merged, MergeName } from '../domain/spawn/merge.ts'
export type { RetryPolicy } from '../domain/spawn/retry.ts'
export type { TokenUsage } from '../domain/spawn/token-usage.ts'
export { ConfigError } from './app/config.ts'
export { createKeepUp, type KeepUpPorts } from './app/create-keepup.ts'
export type { DocumentPoint } from './app/documents/history.ts'
export type { KnownModel, KnownModels } from './app/models.ts'
export { Problem } from './app/problem.ts'
export type { ApprovalRow, ReadModel, RunRow } from './app/read-model.ts'
export type { Ended } from './app/runs/ended.ts'
export type { StoredVariable, StoreSummary, VariablesErased } from './app/schemas/context-stores.ts'
export type { EventView as RuntimeEvent } from './app/schemas/events.ts'
export type { Memory, MemoryHistory } from './app/schemas/memories.ts'
export type { Envelope as RuntimeMessage, MessageView, Sent } from './app/schemas/messages.ts'
export type { StartedRun } from './app/schemas/runs.ts'
export type { Services } from './app/services.ts'
export type { AgentState } from './library/agent-state.ts'
export type { Checkpoint } from './library/checkpoint.ts'
export type { KeptContextStores, VariablesWanted } from './library/context-stores.ts'
export type { DocumentsApi, DocumentUpdate } from './library/documents.ts'
export { type EventStoreLogOptions, openEventStoreLog } from './library/event-store.ts'
export type { ForkRequest, KeepUp, RunTree, VerifiedRun } from './library/keepup.ts'
export type { ApprovalsWanted, RunsWanted } from './library/lists.ts'
export type { KeptMemories, MemoriesWanted } from './library/memories.ts'
export type { Hearing, RuntimeMessageBus, Sending } from './library/message-bus.ts'
export { type KeepUpOptions, openKeepUp } from './library/open-keepup.ts'
export { policyOf } from './library/policy.ts'
export type { ErrorRecoveryPolicy } from './library/retry.ts'
export type { Saying } from './library/saying.ts'
export type { StartOptions } from './library/start-options.ts'
export { VERSION } from './version.ts'
