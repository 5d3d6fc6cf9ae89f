export interface DirEntry {
  readonly name: string
  readonly type: 'file' | 'dir' | 'symlink' | 'other'
  readonly size: number
}

/**
 * A folder that tools cannot leave. Paths are `/`-separated, relative, or absolute where they lead inside; every method
 * rejects with a ToolError SANDBOX_VIOLATION for one that leads out (`..`, symlink), checked again after opening, and with
 * RESOURCE_NOT_FOUND, CONFLICT or EXECUTION_FAILED as it fits.
 */
export interface Workspace {
  readonly path: string
  /** The real path inside the workspace, relative; for a path that does not exist yet, through its nearest real parent. */
  resolve(path: string): Promise<string>
  read(path: string): Promise<Uint8Array>
  /** Atomic (rename) and durable. `created`: it did not exist before. */
  write(path: string, bytes: Uint8Array): Promise<{ created: boolean }>
  list(path: string): Promise<readonly DirEntry[]>
  exists(path: string): Promise<boolean>
  /** Files under `path` whose lines match, in path order; ignored files and binaries aside. */
  search(query: SearchQuery, signal: AbortSignal): Promise<{ matches: readonly SearchMatch[]; truncated: boolean }>
  readonly versions: Versions
}

export interface SearchQuery {
  readonly pattern: string
  readonly regex: boolean
  readonly path: string
  readonly glob?: string
  /** Which files are looked through; all where absent. */
  readonly only?: (path: string) => boolean
  readonly caseSensitive: boolean
  readonly limit: number
}

export interface SearchMatch {
  readonly path: string
  /** Counted from 1. */
  readonly line: number
  /** Where the match begins in its line, in UTF-16 units from 0. */
  readonly column: number
  /** The line, or of a long one a part around the match: what is secret in it may be cut. */
  readonly text: string
}

export interface FileChange {
  readonly path: string
  readonly change: 'added' | 'modified' | 'deleted'
}

/** The workspace's shadow versions: trees of its files (ignored ones aside), kept in the data folder beside the log. */
export interface Versions {
  /** The id of the tree as it is now, stored durably. Cheap when little has changed. */
  snapshot(): Promise<string>
  changes(from: string, to: string): Promise<readonly FileChange[]>
  /** A unified diff, at most `maxBytes` of it. */
  diff(from: string, to: string, maxBytes: number): Promise<string>
  read(tree: string, path: string): Promise<Uint8Array | null>
  /** Puts the files of a tree back; what it replaces is kept as the tree it returns. */
  restore(tree: string): Promise<{ replaced: string }>
  /** Writes a tree's files into a new or empty folder. */
  materialize(tree: string, folder: string): Promise<void>
}

export interface Command {
  readonly argv: readonly string[]
  /** Relative to the workspace. */
  readonly cwd: string
  readonly timeoutMs: number
  readonly env?: Readonly<Record<string, string>>
  readonly network: boolean
}

export interface CommandResult {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly timedOut: boolean
  /** Well formed and bounded: head and tail where it was too long; the sizes are the originals, in bytes. */
  readonly stdout: string
  readonly stderr: string
  /**
   * Each of them as well-formed UTF-8 in pieces, up to 64 MiB, beyond that head and tail with a note. Absent: they are whole
   * in `stdout` and `stderr`.
   */
  readonly output?: { readonly stdout: readonly Uint8Array[]; readonly stderr: readonly Uint8Array[] }
  readonly stdoutBytes: number
  readonly stderrBytes: number
  readonly durationMs: number
  /** Sentences about the workspace after the command, such as a file that lost its set-user-ID bit. Absent: there are none. */
  readonly warnings?: readonly string[]
}

/** Changes text that comes in pieces, on its way. It may hold back the end of a piece until what follows has come. */
export interface TextFilter {
  push(text: string): string
  end(): string
}

/** Runs a command in the workspace and ends its whole process group on abort, time limit, or the driver's death. */
export interface Sandbox {
  /** False: commands run unconfined (the run said `sandboxed: false`). */
  readonly confined: boolean
  /**
   * Rejects with the signal's reason when aborted, with a ToolError where the command could not be started. Each of the two
   * outputs goes through a filter of its own before anything of it is cut, kept or told; the sandbox of a tool's context
   * hides secrets so.
   */
  exec(
    command: Command,
    signal: AbortSignal,
    onOutput?: (text: string) => void,
    filter?: () => TextFilter,
  ): Promise<CommandResult>
}
