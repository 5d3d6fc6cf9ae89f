import { lockWorkspace } from '../../../adapters/workspace/lock.ts'
import { openWorkspace } from '../../../adapters/workspace/open.ts'
import { external } from '../../../domain/external/aggregate.ts'
import type { ExternalEvent } from '../../../domain/external/events.ts'
import { externalStream } from '../../../domain/log/ids.ts'
import type { HeldFiles } from '../../../domain/ports/external.ts'
import type { At } from '../../../domain/stream/point.ts'
import { history } from '../../../domain/stream/runtime/history.ts'
import type { Stores } from '../../../domain/stream/runtime/ports.ts'
import type { Boundary } from '../host/secret-boundary.ts'

/** Locks a working folder for one run of an external agent, like the folder of a keepup run. */
export async function holdFiles(path: string, dataFolder: string, { versions }: Boundary): Promise<HeldFiles> {
  const workspace = await openWorkspace(path, { dataFolder, secrets: versions })
  const lock = lockWorkspace(workspace.path, dataFolder, null)
  return { snapshot: () => workspace.versions.snapshot(), release: () => lock.release() }
}

/** Opens a working folder without a lock, because the parent's run holds the lock. */
export async function shareFiles(path: string, dataFolder: string, { versions }: Boundary): Promise<HeldFiles> {
  const workspace = await openWorkspace(path, { dataFolder, secrets: versions })
  return { snapshot: () => workspace.versions.snapshot(), release: () => undefined }
}

/**
 * The folder of an external agent's run, and the version of its files: step 0 before the run, any later step after it.
 */
export interface AgentFiles {
  readonly path: string | null
  readonly tree: string | null
  /** The revision of the last event read. */
  readonly revision: number
}

/** Null: no external agent's run has this id. */
export async function agentFilesAt(stores: Stores, agentId: string, at: At): Promise<AgentFiles | null> {
  const before = at !== null && 'step' in at && at.step === 0
  let found: { path: string | null; tree: string | null; revision: number } | null = null
  for await (const page of history<ExternalEvent>(stores, external, externalStream(agentId), {})) {
    for (const { event } of page) {
      const { type, body, revision } = event
      if (type === 'external_started') found = { path: body.request.workingDir ?? null, tree: null, revision }
      if (found === null) continue
      if (type === 'files_versioned' && (body.when === 'before' || !before))
        found.tree = 'tree' in body ? body.tree : null
      found.revision = revision
    }
  }
  return found
}
