import { ToolError } from '../../../domain/calls/errors.ts'
import { sha256 } from '../../../domain/log/ids.ts'
import type { FileChange, Workspace } from '../../../domain/ports/index.ts'

/** An in-memory workspace. The name of a tree derives from its content. `fails`: the error of each snapshot. */
export class Folder {
  readonly files = new Map<string, string>()
  fails: Error | null = null
  private readonly trees = new Map<string, ReadonlyMap<string, string>>()

  constructor(files: Readonly<Record<string, string>> = {}) {
    for (const [path, text] of Object.entries(files)) this.files.set(path, text)
    this.snapshot()
  }

  snapshot(): string {
    if (this.fails !== null) throw this.fails
    const tree = sha256(JSON.stringify([...this.files].sort())).slice(0, 40)
    this.trees.set(tree, new Map(this.files))
    return tree
  }

  get workspace(): Workspace {
    const missing = () => Promise.reject(new Error('the folder of golden histories cannot do this'))
    return {
      path: '/project',
      resolve: async (path) => {
        if (path.startsWith('..')) throw new ToolError('SANDBOX_VIOLATION', `${path} leads out of the workspace`)
        return path
      },
      read: async (path) => {
        if ([...this.files.keys()].some((file) => file.startsWith(`${path}/`))) throw new Error(`${path} is a folder`)
        const text = this.files.get(path)
        if (text === undefined) throw new ToolError('RESOURCE_NOT_FOUND', `there is no ${path}`)
        return new TextEncoder().encode(text)
      },
      write: async (path, bytes) => {
        const created = !this.files.has(path)
        this.files.set(path, new TextDecoder().decode(bytes))
        return { created }
      },
      list: missing,
      exists: async (path) => this.files.has(path),
      search: async () => ({ matches: [], truncated: false }),
      versions: {
        snapshot: async () => this.snapshot(),
        changes: async (from, to) => this.changes(from, to),
        diff: missing,
        read: missing,
        restore: missing,
        materialize: missing,
      },
    }
  }

  private changes(from: string, to: string): FileChange[] {
    const [old, now] = [this.trees.get(from)!, this.trees.get(to)!]
    return [...new Set([...old.keys(), ...now.keys()])].sort().flatMap((path): FileChange[] => {
      if (!now.has(path)) return [{ path, change: 'deleted' }]
      if (old.get(path) === now.get(path)) return []
      return [{ path, change: old.has(path) ? 'modified' : 'added' }]
    })
  }
}
