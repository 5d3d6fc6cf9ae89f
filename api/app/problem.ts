import { SandboxUnavailable } from '../../adapters/sandbox/error.ts'
import { VaultError } from '../../adapters/vault/error.ts'
import { WorkspaceError } from '../../adapters/workspace/error.ts'
import { CommandRejected, ModelError, ToolError } from '../../domain/agent/errors.ts'
import { PatternError } from '../../domain/agent/secrets/pattern.ts'
import { LogError, type LogErrorCode } from '../../domain/log/errors.ts'
import { ContentionError, TimeLimitError } from '../../domain/runtime/errors.ts'
import { ProjectionError } from '../../projections/errors.ts'
import { noRoom } from './no-room.ts'

/** Where in a request a fault stands. */
export type RequestPlace = 'body' | 'query' | 'path' | 'header'

export interface RequestFault {
  readonly in?: RequestPlace
  readonly path: string
  readonly message: string
}

/** A refused request. `code` is stable, `detail` says what to do; of the request they repeat names and ids, cut, and no values. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly status: number
  readonly code: string
  readonly errors: readonly RequestFault[] | undefined
  constructor(status: number, code: string, detail: string, errors?: readonly RequestFault[]) {
    super(detail)
    this.status = status
    this.code = code
    this.errors = errors
  }
}

const LOG_STATUS: Readonly<Record<LogErrorCode, number>> = {
  CONFLICT: 409,
  LOG_FULL: 507,
  LOG_UNAVAILABLE: 503,
  LOG_LOCKED: 503,
  LOG_CORRUPT: 500,
  LOG_FOREIGN: 500,
  LOG_REPLACED: 500,
  LOG_MISSING: 500,
  LOG_SHORTENED: 409,
  LOG_NEWER: 500,
  LOG_REFUSED: 503,
  LOG_CLOSED: 503,
  APPEND_TOO_LARGE: 413,
  APPEND_INVALID: 500,
  CURSOR_INVALID: 400,
  CURSOR_MISMATCH: 409,
  BLOB_MISSING: 500,
  BODY_ERASED: 410,
  ERASE_IMPOSSIBLE: 422,
  UNKNOWN_EVENT: 500,
  FOLD_DIFFERS: 500,
}

/** The refusal that an error stands for; null for what nobody expected. */
export function asProblem(error: unknown): Problem | null {
  if (error instanceof Problem) return error
  if (error instanceof CommandRejected) return new Problem(error.status, error.code, error.message)
  if (error instanceof LogError) return new Problem(LOG_STATUS[error.code], error.code, error.message)
  const full = noRoom(error)
  if (full !== null) return new Problem(507, 'DISK_FULL', full)
  if (error instanceof WorkspaceError) {
    return new Problem(error.code === 'WORKSPACE_BUSY' ? 409 : 422, error.code, error.message)
  }
  if (error instanceof VaultError) {
    return new Problem(error.code === 'SECRET_INVALID' ? 422 : 503, error.code, error.message)
  }
  if (error instanceof SandboxUnavailable) return new Problem(422, error.code, error.message)
  if (error instanceof ModelError) {
    const code = error.code.startsWith('SCRIPT_') ? error.code : `MODEL_${error.code}`
    return new Problem(error.transient ? 503 : 422, code, error.message)
  }
  // The rows cannot be had now; the log, from which they come back, is as it was.
  if (error instanceof ProjectionError) {
    return new Problem(error.code === 'NOT_PARKED' ? 409 : 503, `TABLES_${error.code}`, error.message)
  }
  if (error instanceof TimeLimitError) return new Problem(503, error.code, error.message)
  if (error instanceof ContentionError) return new Problem(409, error.code, error.message)
  // Of the files of a run: a path that leads out of its workspace, or one that is gone.
  if (error instanceof ToolError) return new Problem(409, error.code, error.message)
  if (error instanceof PatternError) return new Problem(422, 'PATTERN_INVALID', error.message)
  return null
}
