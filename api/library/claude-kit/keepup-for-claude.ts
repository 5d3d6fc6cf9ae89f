import { claudeUsage } from '../../../adapters/agents/cli/claude-code.ts'
import type { ReportedUsage } from '../../../domain/external/usage.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import type { HostRules } from '../host-run.ts'
import type { KeepUp } from '../keepup.ts'
import { type KeepUpOptions, openKeepUp } from '../open-keepup.ts'
import { hooksOf } from './hooks.ts'
import { Sessions } from './sessions.ts'
import type { Hooks, SessionStore } from './types.ts'

interface ClaudeRules extends HostRules {
  /** How long a tool call waits for a person, ms; then it is denied. Default: 10 minutes. */
  readonly timeoutMs?: number
  /** The person who starts the sessions. */
  readonly by?: string
}

/** The data folder and its settings, or an open one, which stays open. */
export type KeepUpForClaudeOptions = ClaudeRules &
  (
    | ({ readonly keepup: KeepUp } & { readonly [K in keyof KeepUpOptions]?: never })
    | ({ readonly keepup?: never } & Omit<KeepUpOptions, 'by' | 'tools'>)
  )

/** Sessions of the Claude Agent SDK in keepup's log: a session store, hooks that ask keepup's policy, and the bill. */
export interface KeepUpForClaude extends AsyncDisposable {
  readonly keepup: KeepUp
  readonly sessionStore: SessionStore
  readonly hooks: Hooks
  /** Passes messages of `query` on, and records the usage and the gaps that they report. */
  observe<Message>(messages: AsyncIterable<Message>): AsyncGenerator<Message, void>
  /** The run of a session in keepup. */
  runOf(key: { readonly projectKey: string; readonly sessionId: string }): Promise<string>
  close(): Promise<void>
}

const TIMEOUT_MS = 600_000

/**
 * Opens a data folder for the Claude Agent SDK: sessions that any machine with the folder continues, a record of every tool
 * call, and approvals in keepup. Rejects as `openKeepUp` does.
 *
 *   const k = await keepupForClaude({ data: './data', policy: { requiresApproval: ['Bash'] } })
 *   const { sessionStore, hooks } = k
 *   for await (const message of k.observe(query({ prompt, options: { sessionStore, hooks, resume } }))) …
 *   await k.close()
 */
export async function keepupForClaude(options: KeepUpForClaudeOptions): Promise<KeepUpForClaude> {
  const { timeoutMs = TIMEOUT_MS, policy, effects, by, keepup: given, ...settings } = options
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs <= 0)
    throw new TypeError('timeoutMs: a whole number of milliseconds above 0 is expected')
  const keepup = given ?? (await openKeepUp(settings as KeepUpOptions))
  const rules = { ...(policy !== undefined && { policy }), ...(effects !== undefined && { effects }) }
  const sessions = new Sessions({ keepup, rules, by })
  const close = async () => {
    await sessions.close()
    if (given === undefined) await keepup.close()
  }
  return {
    keepup,
    sessionStore: sessions,
    hooks: hooksOf(sessions, timeoutMs),
    observe: (messages) => observed(sessions, messages),
    runOf: async (key) => (await sessions.run(key)).runId,
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function* observed<Message>(sessions: Sessions, messages: AsyncIterable<Message>): AsyncGenerator<Message, void> {
  let model: string | undefined
  for await (const message of messages) {
    const line = message as unknown as JsonObject
    const sessionId = typeof line.session_id === 'string' ? line.session_id : ''
    if (line.type === 'system' && line.subtype === 'init' && typeof line.model === 'string') model = line.model
    if (line.type === 'system' && line.subtype === 'mirror_error') {
      const key = line.key as unknown as { projectKey: string; sessionId: string; subpath?: string }
      await (await sessions.run(key)).gap(key.subpath, line.error)
    }
    if (line.type === 'result') {
      const run = await sessions.runOfSession(sessionId)
      await run?.usage(sumOf(run.state.usage, claudeUsage(line, model)))
    }
    yield message
  }
}

/** Claude reports the tokens of one query, and the cost of the whole session. */
function sumOf(before: ReportedUsage | null, now: ReportedUsage): ReportedUsage {
  if (before === null) return now
  const sum = (a: number | null, b: number | null) => (a === null || b === null ? (a ?? b) : a + b)
  return {
    ...now,
    inputTokens: sum(before.inputTokens, now.inputTokens),
    cachedInputTokens: sum(before.cachedInputTokens, now.cachedInputTokens),
    outputTokens: sum(before.outputTokens, now.outputTokens),
    cost: now.cost ?? before.cost,
  }
}
