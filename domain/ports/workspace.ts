/** An entry of a folder. `size`: bytes. */
export interface DirEntry {
  readonly name: string
  readonly type: 'file' | 'dir' | 'symlink' | 'other'
  readonly size: number
}

/**
 * A folder that tools cannot leave. Paths are `/`-separated, and relative or absolute inside the folder. Every method
 * rejects with a ToolError: SANDBOX_VIOLATION for a path that leads out (`..`, symlink), which is checked again after
 * opening; else RESOURCE_NOT_FOUND, CONFLICT or EXECUTION_FAILED.
 */
export interface Workspace {
  readonly path: string
  /**
   * The real path inside the workspace, relative. For a path that does not exist yet: through its nearest existing
   * parent.
   */
  resolve(path: string): Promise<string>
  read(path: string): Promise<Uint8Array>
  /** Atomic (rename) and durable. `created`: the file did not exist before. */
  write(path: string, bytes: Uint8Array): Promise<{ created: boolean }>
  list(path: string): Promise<readonly DirEntry[]>
  exists(path: string): Promise<boolean>
  /** Files under `path` with matching lines, in path order, without ignored and binary files. */
  search(query: SearchQuery, signal: AbortSignal): Promise<{ matches: readonly SearchMatch[]; truncated: boolean }>
  readonly versions: Versions
}

/** A search in the files below `path`. `glob`: only these files; `limit`: the most matches. */
export interface SearchQuery {
  readonly pattern: string
  readonly regex: boolean
  readonly path: string
  readonly glob?: string
  /** Selects the files to search; absent: all. */
  readonly only?: (path: string) => boolean
  readonly caseSensitive: boolean
  readonly limit: number
}

/** A line that matches. */
export interface SearchMatch {
  readonly path: string
  /** Counted from 1. */
  readonly line: number
  /** The start of the match in its line, in UTF-16 units from 0. */
  readonly column: number
  /** The line, or the part of a long line around the match. The cut may split a secret. */
  readonly text: string
}

/** A file that differs between two versions. */
export interface FileChange {
  readonly path: string
  readonly change: 'added' | 'modified' | 'deleted'
}

/**
 * The workspace's shadow versions: trees of its files without ignored ones, stored in the data folder next to the log.
 */
export interface Versions {
  /** Stores the current tree durably and returns its id. Cheap after few changes. */
  snapshot(): Promise<string>
  changes(from: string, to: string): Promise<readonly FileChange[]>
  /** A unified diff, cut at `maxBytes`. */
  diff(from: string, to: string, maxBytes: number): Promise<string>
  read(tree: string, path: string): Promise<Uint8Array | null>
  /** Restores the files of a tree. `replaced`: a tree with the files that were overwritten. */
  restore(tree: string): Promise<{ replaced: string }>
  /** Writes a tree's files into a new or empty folder. */
  materialize(tree: string, folder: string): Promise<void>
}

/** A program to run. The first of `argv` is its name; `timeoutMs` ends it with its children. */
export interface Command {
  readonly argv: readonly string[]
  /** Relative to the workspace. */
  readonly cwd: string
  readonly timeoutMs: number
  readonly env?: Readonly<Record<string, string>>
  readonly network: boolean
}

/** The end of a command. `exitCode` is null after a signal, `signal` is null after an exit. */
export interface CommandResult {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly timedOut: boolean
  /** Well-formed and bounded: head and tail of long output. `stdoutBytes` and `stderrBytes` are the original sizes. */
  readonly stdout: string
  readonly stderr: string
  /**
   * Both outputs as well-formed UTF-8 in pieces, up to 64 MiB; longer output is head and tail with a note. Absent:
   * `stdout` and `stderr` are complete.
   */
  readonly output?: { readonly stdout: readonly Uint8Array[]; readonly stderr: readonly Uint8Array[] }
  readonly stdoutBytes: number
  readonly stderrBytes: number
  readonly durationMs: number
  /**
   * Warnings about the workspace after the command, such as a file that lost its set-user-ID bit. Absent: no warnings.
   */
  readonly warnings?: readonly string[]
}

/** A filter for text that arrives in pieces. The filter may hold back the end of a piece until the next piece. */
export interface TextFilter {
  push(text: string): string
  end(): string
}

/** Runs a command in the workspace and ends its whole process group on abort, time limit, or the driver's death. */
export interface Sandbox {
  /** False: commands run unconfined (the run said `sandboxed: false`). */
  readonly confined: boolean
  /**
   * Rejects with the signal's reason after an abort, and with a ToolError if the command could not be started. `filter`
   * creates one filter per output. Output passes the filter before it is cut, stored or passed on; the sandbox of a
   * tool's context redacts secrets this way.
   */
  exec(
    command: Command,
    signal: AbortSignal,
    onOutput?: (text: string) => void,
    filter?: () => TextFilter,
  ): Promise<CommandResult>
}
