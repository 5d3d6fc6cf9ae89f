import '../node-version.ts'

// `@keepup/runtime/ai`: for programs of the Vercel AI SDK 7. `api/docs/agent-sdks.md` has an example.

export { type KeepUpForAi, type KeepUpForAiOptions, keepupForAi } from './ai-kit/keepup-for-ai.ts'
export type { HostRules } from './host-run.ts'
