import { realpathSync } from 'node:fs'
import { lockWorkspace, type WorkspaceLock } from './lock.ts'

/**
 * The workspaces that runs of this process hold. The agents of a run share one: it is free when the last of them has
 * released it.
 */
export class RunLocks {
  readonly #dataFolder: string
  readonly #held = new Map<string, { readonly lock: WorkspaceLock; users: number }>()

  constructor(dataFolder: string) {
    this.#dataFolder = dataFolder
  }

  /** Throws as {@link lockWorkspace} does. */
  take(path: string, runId: string): WorkspaceLock {
    const name = (real: string) => `${runId}\n${real}`
    const shared = this.#held.get(name(realPath(path)))
    const held = shared ?? { lock: lockWorkspace(path, this.#dataFolder, runId), users: 0 }
    const key = name(realPath(path))
    this.#held.set(key, held)
    held.users++
    let released = false
    return {
      release: () => {
        if (released) return
        released = true
        if (--held.users > 0) return
        this.#held.delete(key)
        held.lock.release()
      },
    }
  }
}

/** A folder that does not exist is refused by the lock itself. */
function realPath(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    return path
  }
}
