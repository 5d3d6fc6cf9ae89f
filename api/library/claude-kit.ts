import '../node-version.ts'

// `@keepup/runtime/claude`: for programs of the Claude Agent SDK. `api/docs/agent-sdks.md` has an example.

export { type KeepUpForClaude, type KeepUpForClaudeOptions, keepupForClaude } from './claude-kit/keepup-for-claude.ts'
export type { Hooks, SessionKey, SessionStore, SessionStoreEntry } from './claude-kit/types.ts'
export type { HostRules } from './host-run.ts'
