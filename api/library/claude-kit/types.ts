// The parts of the Claude Agent SDK (`@anthropic-ai/claude-agent-sdk` 0.3) that this adapter implements, so that it needs
// no package of the SDK. A test compares them with the SDK's own types.

/** The place of a transcript. `subpath` absent: the main transcript of the session. */
export interface SessionKey {
  projectKey: string
  sessionId: string
  subpath?: string
}

/** A line of a transcript, as JSON. */
export interface SessionStoreEntry {
  type: string
  uuid?: string
  timestamp?: string
  [member: string]: unknown
}

/** The SDK's interface of a store of session transcripts. `append` keeps the order of its entries over calls. */
export interface SessionStore {
  /** Records entries, once each by uuid. Resolves when they are durable. */
  append(key: SessionKey, entries: SessionStoreEntry[]): Promise<void>
  /** The entries in order; null: the transcript does not exist. */
  load(key: SessionKey): Promise<SessionStoreEntry[] | null>
  /** The sessions of a project with the time of their last entry, ms. */
  listSessions(projectKey: string): Promise<Array<{ sessionId: string; mtime: number }>>
  /** Erases a transcript; without `subpath`, all transcripts of the session. */
  delete(key: SessionKey): Promise<void>
  listSubkeys(key: { projectKey: string; sessionId: string }): Promise<string[]>
}

/** The members of hook inputs that this adapter reads. */
export interface HookInputOf {
  readonly hook_event_name: string
  readonly session_id: string
  readonly transcript_path: string
  readonly cwd: string
  /** The subagent whose hook this is. Absent: the main one. */
  readonly agent_id?: string
}

export type HookAnswer = {
  systemMessage?: string
  hookSpecificOutput?:
    | {
        hookEventName: 'PreToolUse'
        permissionDecision: 'allow' | 'deny'
        permissionDecisionReason: string
      }
    | {
        hookEventName: 'PermissionRequest'
        decision: { behavior: 'allow' } | { behavior: 'deny'; message: string }
      }
}

export interface HookMatcher {
  /** Seconds. */
  timeout?: number
  /** `block`: a hook that fails blocks the call. */
  onFailure?: 'continue' | 'block'
  hooks: ((
    input: HookInputOf,
    toolUseID: string | undefined,
    options: { signal: AbortSignal },
  ) => Promise<HookAnswer>)[]
}

export type HookEventName =
  | 'PreToolUse'
  | 'PostToolUse'
  | 'PostToolUseFailure'
  | 'PermissionRequest'
  | 'PermissionDenied'
  | 'Stop'
  | 'SubagentStop'
  | 'SessionStart'
  | 'SessionEnd'

/** The SDK's option `hooks`: callbacks by the name of the event that calls them. */
export type Hooks = Record<HookEventName, HookMatcher[]>
