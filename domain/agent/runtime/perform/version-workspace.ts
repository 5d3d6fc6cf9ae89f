import type { Workspace } from '../../../ports/index.ts'
import type { Environment, RuntimePorts } from '../../../ports/runtime.ts'
import { TimeLimitError } from '../../../stream/runtime/errors.ts'
import type { Version } from '../../decide/commands.ts'
import { type AgentState, callsOf, isFinished } from '../../state/state.ts'
import { changesBetween } from '../history/changes.ts'

// How long a version may take is a limit of the port (limited-ports.ts).

/** The workspace as it is now, or why it could not be versioned, which is no reason to lose what a tool has done. */
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

/** Paths of a drift that are recorded at most. */
const MAX_DRIFT = 100

/** The fact that files have changed since the last version; null: they have not, or that cannot be learnt in time. */
export async function driftFound(ports: RuntimePorts, { workspace, secrets }: Environment, state: AgentState) {
  const { tree, unversioned } = state
  // Where a version is owed, what has changed is what it is owed for.
  if (unversioned !== null || isFinished(state)) return null
  // The driver before may have died while it put recorded files back.
  if (workspace === null || tree === null || callsOf(state).some(({ reused }) => reused)) return null
  const drift = await driftSince(workspace, tree).catch((error: Error) => {
    ports.warn?.(state.agentId, `whether files have changed since is not known: ${error.message}`)
    return null
  })
  if (drift === null) return null
  const changed = drift.changes.slice(0, MAX_DRIFT).map((change) => secrets.text(change.path))
  return { kind: 'drift_found', expected: tree, found: drift.found, changed } as const
}

/** The changes of the workspace since a tree; null: none. Rejects where that cannot be learnt in time. */
async function driftSince({ versions }: Workspace, tree: string) {
  const found = await versions.snapshot()
  if (found === tree) return null
  // Where the files of that step are lost it cannot be said which have changed.
  return { found, changes: (await changesBetween(versions, tree, found)) ?? [] }
}
