import type { Workspace } from '../../../ports/index.ts'
import type { Environment, RuntimePorts } from '../../../ports/runtime.ts'
import { TimeLimitError } from '../../../stream/runtime/errors.ts'
import type { Version } from '../../decide/commands.ts'
import { type AgentState, callsOf, isFinished } from '../../state/state.ts'
import { changesBetween } from '../history/changes.ts'

// The workspace port limits how long a version may take (limited-ports.ts).

/** The current version of the workspace, or why there is none. Never rejects, so that the tool's outcome is kept. */
export async function treeNow(ports: RuntimePorts, env: Environment): Promise<Version> {
  const { workspace } = env
  if (workspace === null) return { unversioned: { code: 'SNAPSHOT_FAILED', message: 'the workspace could not be had' } }
  try {
    const tree = await workspace.versions.snapshot()
    await ports.crashPoint?.('after_snapshot')
    return { tree }
  } catch (error) {
    const code = error instanceof TimeLimitError ? 'SNAPSHOT_TIMEOUT' : 'SNAPSHOT_FAILED'
    const message = env.secrets.text(error instanceof Error ? error.message : String(error))
    return { unversioned: { code, message } }
  }
}

const MAX_DRIFT = 100

/**
 * The command that records changes of files since the last version. Null: no file has changed, or the answer came too
 * late.
 */
export async function driftFound(ports: RuntimePorts, { workspace, secrets }: Environment, state: AgentState) {
  const { tree, unversioned } = state
  // A version is due, and it will contain the changes.
  if (unversioned !== null || isFinished(state)) return null
  // The previous driver may have died while it restored recorded files. The changes may then be its own.
  if (workspace === null || tree === null || callsOf(state).some(({ reused }) => reused)) return null
  const drift = await driftSince(workspace, tree).catch((error: Error) => {
    ports.warn?.(state.agentId, `whether files have changed since is not known: ${error.message}`)
    return null
  })
  if (drift === null) return null
  const changed = drift.changes.slice(0, MAX_DRIFT).map((change) => secrets.text(change.path))
  return { kind: 'drift_found', expected: tree, found: drift.found, changed } as const
}

/** The changes of the workspace since a tree; null: none. Rejects on timeout. */
async function driftSince({ versions }: Workspace, tree: string) {
  const found = await versions.snapshot()
  if (found === tree) return null
  // If the files of that tree are lost, the changed paths are unknown.
  return { found, changes: (await changesBetween(versions, tree, found)) ?? [] }
}
