import { SandboxUnavailable } from '../../adapters/sandbox/error.ts'
import { VaultError } from '../../adapters/vault/error.ts'
import { WorkspaceError, type WorkspaceErrorCode } from '../../adapters/workspace/error.ts'
import type { AnnotationErrorCode } from '../../domain/annotation/errors.ts'
import type { RejectionCode, ToolErrorCode } from '../../domain/calls/error-codes.ts'
import { CommandRejected, ModelError, type ModelErrorCode, ToolError } from '../../domain/calls/errors.ts'
import type { DocumentErrorCode } from '../../domain/document/errors.ts'
import { AgentError, type AgentErrorCode } from '../../domain/external/errors.ts'
import { LogError, type LogErrorCode } from '../../domain/log/errors.ts'
import { echo } from '../../domain/log/issues.ts'
import type { MemoryErrorCode } from '../../domain/memory/errors.ts'
import { PatternError } from '../../domain/secrets/compile-pattern.ts'
import type { ContextErrorCode } from '../../domain/store/errors.ts'
import { type Refusal, StreamError } from '../../domain/stream/errors.ts'
import { ContentionError, TimeLimitError } from '../../domain/stream/runtime/errors.ts'
import { ProjectionError, type ProjectionErrorCode } from '../../projections/engine/errors.ts'
import { noRoom } from './disk-full.ts'

type OwnCode =
  | 'ADDRESS_UNUSABLE'
  | 'AGENT_FAILED'
  | 'AGENT_NOT_ALLOWED'
  | 'BACKUP_ON_SERVERS'
  | 'BY_REFUSED'
  | 'BROKEN_OFF'
  | 'CONSUMER_EXISTS'
  | 'CONSUMER_TAKEN'
  | 'CONSUMERS_FULL'
  | 'CONSUMERS_UNAVAILABLE'
  | 'DATA_FOLDER_UNUSABLE'
  | 'DISK_FULL'
  | 'FILES_CHANGED'
  | 'FOLDER_INSIDE'
  | 'FORBIDDEN'
  | 'FOLDER_IN_WORKSPACE'
  | 'FOLDER_NOT_EMPTY'
  | 'FOLDER_UNUSABLE'
  | 'INVALID_REQUEST'
  | 'ISSUER_UNAVAILABLE'
  | 'LOSS_CHANGED'
  | 'LOSS_NOT_RECORDED'
  | 'NOT_FOUND'
  | 'NOT_ON_SERVERS'
  | 'NOT_SIGNED'
  | 'NOT_YOUR_OWN'
  | 'NO_WORKSPACE'
  | 'PATTERN_INVALID'
  | 'PATTERN_REFUSED'
  | 'POSTGRES_UNAVAILABLE'
  | 'READ_ONLY'
  | 'REQUEST_REFUSED'
  | 'RUN_LOST'
  | 'RUN_PARKED'
  | 'RUN_UNGOVERNED'
  | 'SECRET_UNHIDABLE'
  | 'SIGNATURES_REFUSED'
  | 'SQL_FAILED'
  | 'SQL_BUSY'
  | 'SQL_LIMIT'
  | 'SQL_REFUSED'
  | 'SQL_UNAVAILABLE'
  | 'UNAUTHORIZED'
  | 'UNKNOWN_AGENT'
  | 'UNKNOWN_ROLE'
  | 'UNKNOWN_SECRET'
  | 'KNOWLEDGE_UNUSABLE'
  | 'UNKNOWN_TOOL'
  | 'UNSUPPORTED_CAPABILITY'
  | 'WIRE_UNKNOWN'
  | 'WORKSPACE_ERASED'

type ModelProblemCode =
  | Extract<ModelErrorCode, `SCRIPT_${string}`>
  | `MODEL_${Exclude<ModelErrorCode, `SCRIPT_${string}`>}`

/** Every code of a {@link Problem}. */
export type ProblemCode =
  | OwnCode
  | RejectionCode
  | ToolErrorCode
  | LogErrorCode
  | ModelProblemCode
  | WorkspaceErrorCode
  | VaultError['code']
  | SandboxUnavailable['code']
  | TimeLimitError['code']
  | ContentionError['code']
  | AnnotationErrorCode
  | DocumentErrorCode
  | MemoryErrorCode
  | ContextErrorCode
  | `TABLES_${ProjectionErrorCode}`

/** A fault of one member of a request. */
export interface Fault {
  readonly path: string
  readonly message: string
}

/**
 * A refused request. `code` is stable. `message` contains the remedy. It names members and ids of the request, never
 * values.
 */
export class Problem<Code extends string = ProblemCode> extends Error {
  override readonly name = 'Problem'
  readonly code: Code
  readonly errors: readonly Fault[] | undefined
  /** Decides the status of a code that is not listed in `http/status.ts`. */
  readonly why: Refusal | undefined
  constructor(
    code: NoInfer<Code>,
    message: string,
    errors?: readonly Fault[],
    { why, ...options }: ErrorOptions & { why?: Refusal } = {},
  ) {
    super(message, options)
    this.code = code
    this.errors = errors
    this.why = why
  }
}

/** The refusal for an error. Null: an unexpected error. */
export function asProblem(error: unknown): Problem<string> | null {
  if (error instanceof Problem) return error
  if (error instanceof AgentError) return ofAgents(error)
  if (error instanceof StreamError) return new Problem(error.code, error.message, undefined, { why: error.why })
  const full = error instanceof LogError ? null : noRoom(error)
  if (full !== null) return new Problem('DISK_FULL', full)
  const code = codeOf(error)
  return code === null ? null : new Problem(code, (error as Error).message)
}

const OF_AGENTS: Readonly<Record<AgentErrorCode, ProblemCode>> = {
  UnknownBackend: 'UNKNOWN_AGENT',
  UnsupportedCapability: 'UNSUPPORTED_CAPABILITY',
  InvalidAgentKind: 'UNKNOWN_AGENT',
  InvalidRequest: 'INVALID_REQUEST',
  Backend: 'AGENT_FAILED',
}

/** If the log refused to record a start, returns the log's refusal. */
function ofAgents({ code, message, cause }: AgentError): Problem<string> {
  const because = code === 'Backend' && cause !== undefined ? asProblem(cause) : null
  return because ?? new Problem(OF_AGENTS[code], message)
}

function codeOf(error: unknown): ProblemCode | null {
  if (error instanceof ModelError)
    return error.code === 'SCRIPT_INVALID' || error.code === 'SCRIPT_EXHAUSTED' ? error.code : `MODEL_${error.code}`
  // The rows are unavailable. The log, from which they can be rebuilt, is unaffected.
  if (error instanceof ProjectionError) return `TABLES_${error.code}`
  if (error instanceof PatternError) return 'PATTERN_INVALID'
  const known =
    error instanceof CommandRejected ||
    error instanceof LogError ||
    error instanceof WorkspaceError ||
    error instanceof VaultError ||
    error instanceof SandboxUnavailable ||
    error instanceof TimeLimitError ||
    error instanceof ContentionError ||
    // Errors of a run's files: a path outside its workspace, or a missing file.
    error instanceof ToolError
  return known ? error.code : null
}

const LISTS: Readonly<Record<string, string>> = {
  run: 'GET /v1/runs (keepup runs list) lists the runs',
  agent: 'GET /v1/runs/{id} (keepup runs show) lists the agents of a run',
  approval: 'GET /v1/approvals (keepup approvals) lists the approvals',
  checkpoint: 'GET /v1/agents/{id}/checkpoints lists the checkpoints of an agent',
}

/** The refusal of an unknown id. `hint`: the remedy, if {@link LISTS} has none. */
export const notFound = (what: string, id: string, hint = LISTS[what] ?? 'check the id'): Problem =>
  new Problem('NOT_FOUND', `there is no ${what} "${echo(id)}"; ${hint}`)
