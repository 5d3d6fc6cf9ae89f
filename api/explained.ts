import { CommandRejected, ModelError } from '../domain/agent/errors.ts'
import { LogError } from '../domain/log/errors.ts'
import { ProjectionError } from '../projections/errors.ts'
import { noRoom } from './no-room.ts'

/** Errors of adapters whose message says what to do. Their classes are known to api/embedded only. */
const ADAPTERS: ReadonlySet<string> = new Set(['ToolError', 'WorkspaceError', 'VaultError', 'SandboxUnavailable'])

/** A stable code and what to do, for an error that somebody foresaw; null for what nobody expected. */
export function explained(error: unknown): { readonly code: string; readonly message: string } | null {
  if (!(error instanceof Error)) return null
  const { message } = error
  if (error instanceof LogError || error instanceof CommandRejected) return { code: error.code, message }
  const full = noRoom(error)
  if (full !== null) return { code: 'DISK_FULL', message: full }
  if (error instanceof ModelError) return { code: `MODEL_${error.code}`, message }
  if (error instanceof ProjectionError) return { code: `TABLES_${error.code}`, message }
  const { code } = error as { code?: unknown }
  return ADAPTERS.has(error.name) && typeof code === 'string' ? { code, message } : null
}
