import type { HostedCall, HostedRun } from '../../../domain/external/runtime/hosted-run.ts'
import type { Json } from '../../../domain/log/json.ts'
import type { Sessions } from './sessions.ts'
import type { HookAnswer, HookInputOf, HookMatcher, Hooks } from './types.ts'

interface ToolInput extends HookInputOf {
  readonly tool_name: string
  readonly tool_input: unknown
  readonly tool_use_id: string
}

/** Extra time in which a hook answers after its own limit, in seconds. Then the SDK gives the hook up. */
const GRACE_S = 15

const MOST_OF_TIMER_MS = 2 ** 31 - 1

/**
 * Hooks that record every tool call before and after it, and decide by keepup's policy and its inbox. Without a
 * decision after `timeoutMs`, and without a record, the answer is no. A call that the policy allows stays
 * subject to Claude's own permissions.
 */
export function hooksOf(sessions: Sessions, timeoutMs: number): Hooks {
  /** Begun calls without an outcome, by the id of Claude. */
  const calls = new Map<string, { readonly call: HostedCall; readonly by: HookInputOf }>()
  const askedOf = ({ tool_use_id: id, tool_name: name, tool_input: input }: ToolInput) => ({
    id,
    name,
    input: input as Json,
  })

  const late = `no person has decided about this call within ${Math.round(timeoutMs / 1000)} s`
  const ended = async (run: HostedRun, { tool_name: tool, tool_input: input }: ToolInput, why: string) => {
    const call = await run.running(tool, input as Json)
    if (call !== null) await run.fail(call, why, 'PERMISSION_DENIED')
  }

  const before = async (input: ToolInput, outer: AbortSignal): Promise<HookAnswer> => {
    const signal = AbortSignal.any([outer, AbortSignal.timeout(Math.min(timeoutMs, MOST_OF_TIMER_MS))])
    let [run, call]: [HostedRun | null, HostedCall | null] = [null, null]
    try {
      run = await sessions.runOfHook(input)
      call = await run.ask(askedOf(input))
      const judged = await run.judged(call, { signal })
      const begun = await run.begin(call, { signal })
      if (begun.at === 'ended') {
        // The call of an earlier process has its outcome. Claude Code makes it again under a new id, if at all.
        const why = begun.end.error?.message ?? 'this call was made before'
        return denied(why)
      }
      calls.set(input.tool_use_id, { call, by: input })
      return judged.at === 'allowed' && judged.by !== undefined ? allowed(`approved by ${judged.by} in keepup`) : {}
    } catch (error) {
      if (run !== null && call !== null) await run.leave(call).catch(() => undefined)
      if (outer.aborted || !signal.aborted) return denied(`keepup could not record this call: ${messageOf(error)}`)
      return denied(late)
    }
  }

  const after = async (
    input: ToolInput,
    end: (run: HostedRun, call: HostedCall) => Promise<void>,
  ): Promise<HookAnswer> => {
    const run = await sessions.runOfHook(input)
    const call = calls.get(input.tool_use_id)?.call ?? (await run.running(input.tool_name, input.tool_input as Json))
    calls.delete(input.tool_use_id)
    if (call !== null) await end(run, call)
    return {}
  }

  const permission = async (input: ToolInput, outer: AbortSignal): Promise<HookAnswer> => {
    const signal = AbortSignal.any([outer, AbortSignal.timeout(Math.min(timeoutMs, MOST_OF_TIMER_MS))])
    const { tool_name: tool, tool_input: asked } = input
    let run: HostedRun | null = null
    try {
      run = await sessions.runOfHook(input)
      const title = `Claude asks for permission to use ${tool}`
      const decision = await run.permission({ tool, title, input: asked as Json }, signal)
      if (decision === 'approved') return permitted({ behavior: 'allow' })
      if (decision === null) return refused('the run ended in keepup before a person decided')
      await ended(run, input, 'a person refused the permission')
      return refused('a person refused it in keepup')
    } catch (error) {
      if (run === null || !signal.aborted) return refused(`keepup has no decision: ${messageOf(error)}`)
      const why = outer.aborted ? 'Claude Code did not wait for a person' : late
      await ended(run, input, why).catch(() => undefined)
      return refused(why)
    }
  }

  /** Claude tells no outcome of a call that its own permissions refuse, or that is interrupted. */
  const stopped = async (input: HookInputOf, isOf: (by: HookInputOf) => boolean): Promise<HookAnswer> => {
    for (const [id, { call, by }] of calls) {
      if (by.session_id !== input.session_id || !isOf(by)) continue
      calls.delete(id)
      const run = await sessions.runOfHook(input)
      await run.fail(
        call,
        'Claude gave no outcome: its own permissions refused the call, or it was interrupted',
        'CANCELLED',
      )
    }
    return {}
  }
  const ofSameAgent = (input: HookInputOf) => stopped(input, (by) => by.agent_id === input.agent_id)

  const status = async (input: HookInputOf, message: string): Promise<HookAnswer> => {
    await (await sessions.runOfHook(input)).report({ kind: 'Status', message })
    return {}
  }

  const deciding = (hook: (input: ToolInput, signal: AbortSignal) => Promise<HookAnswer>): HookMatcher[] => [
    {
      timeout: Math.ceil(timeoutMs / 1000) + GRACE_S,
      onFailure: 'block',
      hooks: [(input, _, { signal }) => hook(input as ToolInput, signal)],
    },
  ]
  const noting = (hook: (input: ToolInput) => Promise<HookAnswer>): HookMatcher[] => [
    { hooks: [(input) => hook(input as ToolInput)] },
  ]
  const textIn = (input: ToolInput, name: string): string =>
    String((input as unknown as Record<string, unknown>)[name] ?? '')
  return {
    PreToolUse: deciding(before),
    PermissionRequest: deciding(permission),
    PostToolUse: noting((input) =>
      after(input, (run, call) => run.succeed(call, (input as unknown as { tool_response?: unknown }).tool_response)),
    ),
    PostToolUseFailure: noting((input) => after(input, (run, call) => run.fail(call, textIn(input, 'error')))),
    PermissionDenied: noting((input) =>
      after(input, (run, call) => run.fail(call, textIn(input, 'reason'), 'PERMISSION_DENIED')),
    ),
    Stop: noting(ofSameAgent),
    SubagentStop: noting(ofSameAgent),
    SessionStart: noting((input) => status(input, `the session begins: ${textIn(input, 'source')}`)),
    SessionEnd: noting(async (input) => {
      await stopped(input, () => true)
      return status(input, `the session ends: ${textIn(input, 'reason')}`)
    }),
  }
}

const allowed = (permissionDecisionReason: string): HookAnswer => ({
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow', permissionDecisionReason },
})

const denied = (permissionDecisionReason: string): HookAnswer => ({
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason },
})

const permitted = (decision: { behavior: 'allow' } | { behavior: 'deny'; message: string }): HookAnswer => ({
  hookSpecificOutput: { hookEventName: 'PermissionRequest', decision },
})

const refused = (message: string): HookAnswer => permitted({ behavior: 'deny', message })

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
