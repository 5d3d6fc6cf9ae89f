import { claudeUsage } from '../../../adapters/agents/cli/claude-code.ts'
import { type ReportedUsage, reportedTokens } from '../../../domain/external/usage.ts'
import type { Json, JsonObject } from '../../../domain/log/json.ts'
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
    | ({ readonly keepup: KeepUp } & { readonly [K in keyof Omit<KeepUpOptions, 'by'>]?: never })
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
      await run?.usage(totalOf(run.state.usage, claudeUsage(line, model), tokensByModel(line)))
    }
    yield message
  }
}

type Tokens = Pick<ReportedUsage, 'inputTokens' | 'cachedInputTokens' | 'outputTokens'>

/**
 * The tokens of the session so far, also of subagents. Null: the result names no model, as after a crash.
 */
function tokensByModel({ modelUsage }: JsonObject): Tokens | null {
  const models = Object.values((modelUsage ?? {}) as Record<string, Record<string, Json>>)
  if (models.length === 0) return null
  const sum = (...names: string[]) =>
    models.reduce((all, model) => all + names.reduce((some, name) => some + reportedTokens(model[name]), 0), 0)
  return {
    inputTokens: sum('inputTokens', 'cacheReadInputTokens', 'cacheCreationInputTokens'),
    cachedInputTokens: sum('cacheReadInputTokens'),
    outputTokens: sum('outputTokens'),
  }
}

/**
 * The usage of the session. Claude reports the cost and the tokens by model as totals, which are 0 after a crash and
 * restart after `/clear`, so the larger total counts. Without tokens by model the tokens of the query are added.
 */
function totalOf(before: ReportedUsage | null, now: ReportedUsage, totals: Tokens | null): ReportedUsage {
  const sum = (a: number | null, b: number | null) => (a === null || b === null ? (a ?? b) : a + b)
  const larger = (a: number | null, b: number | null) => (a === null || b === null ? (a ?? b) : Math.max(a, b))
  const counted = (name: keyof Tokens) =>
    totals === null ? sum(before?.[name] ?? null, now[name]) : larger(before?.[name] ?? null, totals[name])
  return {
    ...now,
    inputTokens: counted('inputTokens'),
    cachedInputTokens: counted('cachedInputTokens'),
    outputTokens: counted('outputTokens'),
    cost: (before?.cost?.nanoDollars ?? -1) > (now.cost?.nanoDollars ?? -1) ? before!.cost : now.cost,
  }
}
