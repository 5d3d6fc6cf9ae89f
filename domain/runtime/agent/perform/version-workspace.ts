import type { Version } from '../../../agent/decisions/commands.ts'
import type { Workspace } from '../../../ports.ts'
import { TimeLimitError } from '../../errors.ts'
import type { Environment, RuntimePorts } from '../../ports.ts'
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

/** The changes in the workspace since a tree; null: none. Rejects where that cannot be learnt in time. */
export async function driftSince({ versions }: Workspace, tree: string) {
  const found = await versions.snapshot()
  if (found === tree) return null
  // Where the files of that step are lost it cannot be said which have changed.
  return { found, changes: (await changesBetween(versions, tree, found)) ?? [] }
}
