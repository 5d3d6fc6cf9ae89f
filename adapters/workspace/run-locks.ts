import { realpathSync } from 'node:fs'
import { lockWorkspace, type WorkspaceLock } from './lock.ts'

/**
 * The workspace locks of the runs in this process. The agents of a run share one lock, which is free after the last of
 * them has released it.
 */
export class RunLocks {
  readonly #dataFolder: string
  readonly #held = new Map<string, { readonly lock: WorkspaceLock; users: number }>()

  constructor(dataFolder: string) {
    this.#dataFolder = dataFolder
  }

  /** Throws like {@link lockWorkspace}. */
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

/** Returns the path unchanged if the folder does not exist; the lock itself then refuses it. */
function realPath(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    return path
  }
}
