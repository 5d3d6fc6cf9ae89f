import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type KeepUp, openKeepUp } from '../../../api/index.ts'
import { type KeepUpForClaudeOptions, keepupForClaude, type SessionStore } from '../../../api/library/claude-kit.ts'
import { sessionContracts } from '../../support/claude/session-contracts.ts'
import { freshFolders } from '../../support/folders.ts'

let folders: ReturnType<typeof freshFolders>
let keepup: KeepUp
beforeEach(async () => {
  folders = freshFolders()
  keepup = await openKeepUp({ data: folders.data, by: 'ada' })
})
afterEach(async () => {
  await keepup.close()
  folders.remove()
})

type Rules = Partial<Omit<Extract<KeepUpForClaudeOptions, { readonly keepup: KeepUp }>, 'keepup'>>
const open = (more: Rules = {}) => keepupForClaude({ by: 'ada', ...more, keepup })

describe('the session store', () => {
  const stores: Promise<SessionStore>[] = []
  sessionContracts(async () => {
    const store = open().then(({ sessionStore }) => sessionStore)
    stores.push(store)
    return store
  })

  it('continues a session that another process recorded', async () => {
    const key = { projectKey: 'p', sessionId: 's' }
    const first = await open()
    await first.sessionStore.append(key, [{ type: 'user', uuid: '1', parentUuid: null }])
    await first.close()
    const second = await open()
    expect(await second.sessionStore.load(key)).toHaveLength(1)
    await second.sessionStore.append(key, [
      { type: 'user', uuid: '1', parentUuid: null },
      { type: 'assistant', uuid: '2', parentUuid: '1' },
    ])
    expect((await second.sessionStore.load(key))!.map(({ uuid }) => uuid)).toEqual(['1', '2'])
    expect(await events(await second.runOf(key))).not.toContain('mirror_gap')
    await second.close()
  })

  it('records a gap when an entry follows one that never arrived, and when the SDK has dropped a batch', async () => {
    const k = await open()
    const key = { projectKey: 'p', sessionId: 's' }
    await k.sessionStore.append(key, [{ type: 'user', uuid: '1', parentUuid: null }])
    await k.sessionStore.append(key, [{ type: 'assistant', uuid: '3', parentUuid: '2' }])
    async function* messages() {
      yield { type: 'system', subtype: 'mirror_error', error: 'disk full', key, session_id: 's' }
    }
    await Array.fromAsync(k.observe(messages()))
    const gaps = (await recordOf(await k.runOf(key))).filter(({ type }) => type === 'mirror_gap')
    expect(gaps.map(({ payload }) => payload)).toEqual([{ after: '2' }, { error: 'disk full' }])
    await k.close()
  })

  it('erases what it deletes', async () => {
    const k = await open()
    const key = { projectKey: 'p', sessionId: 's' }
    await k.sessionStore.append(key, [{ type: 'user', uuid: '1', message: 'my name is Ada Lovelace' }])
    const runId = await k.runOf(key)
    await k.sessionStore.delete(key)
    expect(JSON.stringify(await recordOf(runId))).not.toContain('Lovelace')
    expect(await keepup.verifyRun({ id: runId })).toMatchObject({ ok: true })
    await k.close()
  })

  it('counts the tokens of each query and the cost of the session', async () => {
    const k = await open()
    const key = { projectKey: 'p', sessionId: 's' }
    await k.sessionStore.append(key, [{ type: 'user', uuid: '1' }])
    const result = (cost: number) => ({
      ...{ type: 'result', subtype: 'success', is_error: false, result: 'done', session_id: 's', total_cost_usd: cost },
      usage: { input_tokens: 10, output_tokens: 5 },
    })
    async function* messages() {
      yield { type: 'system', subtype: 'init', model: 'claude-sonnet-5-5', session_id: 's' }
      yield result(0.25)
      yield result(0.5)
    }
    await Array.fromAsync(k.observe(messages()))
    expect(await keepup.run(await k.runOf(key))).toMatchObject({
      ...{ model: 'claude-sonnet-5-5', backend: 'claude_agent_sdk' },
      own: { inputTokens: 20, outputTokens: 10, nanoDollars: 500_000_000 },
    })
    await k.close()
  })
})

describe('the usage of a session', () => {
  it('keeps its cost and its tokens after a crash, and counts the tokens of subagents once', async () => {
    const k = await open()
    const key = { projectKey: 'p', sessionId: 's' }
    await k.sessionStore.append(key, [{ type: 'user', uuid: '1' }])
    const ofModel = (inputTokens: number, outputTokens: number) => ({
      ...{ inputTokens, outputTokens, cacheReadInputTokens: 1, cacheCreationInputTokens: 2 },
    })
    const result = (cost: number, modelUsage: object) => ({
      ...{ type: 'result', subtype: 'success', session_id: 's', total_cost_usd: cost, modelUsage },
      usage: { input_tokens: cost === 0 ? 0 : 10, output_tokens: cost === 0 ? 0 : 5 },
    })
    async function* messages() {
      yield result(0.25, { big: ofModel(10, 5), small: ofModel(100, 50) })
      yield result(0.5, { big: ofModel(20, 10), small: ofModel(100, 50) })
      yield result(0, {})
    }
    await Array.fromAsync(k.observe(messages()))
    expect(await keepup.run(await k.runOf(key))).toMatchObject({
      own: { inputTokens: 124, outputTokens: 60, nanoDollars: 500_000_000 },
    })
    await k.close()
  })
})

const hookInput = (event: string, id: string, tool: string, input: object, more: object = {}) => ({
  ...{ hook_event_name: event, session_id: 's', transcript_path: '/tmp/projects/p/s.jsonl', cwd: '/tmp' },
  ...{ tool_name: tool, tool_input: input, tool_use_id: id },
  ...more,
})
type K = Awaited<ReturnType<typeof open>>
const fire = (k: K, event: keyof K['hooks'], input: object) =>
  k.hooks[event][0]!.hooks[0]!(input as never, undefined, { signal: new AbortController().signal })

describe('the hooks', () => {
  it('record a call before and after it, and leave an allowed call to the permissions of Claude', async () => {
    const k = await open()
    const bash = (event: string, more: object = {}) => hookInput(event, 'tu_1', 'Bash', { command: 'ls' }, more)
    expect(await fire(k, 'PreToolUse', bash('PreToolUse'))).toEqual({})
    const runId = await k.runOf({ projectKey: 'p', sessionId: 's' })
    expect(await events(runId)).toContain('tool_call_start')
    expect(await events(runId)).not.toContain('tool_call_end')
    await fire(k, 'PostToolUse', bash('PostToolUse', { tool_response: { stdout: 'a.txt' } }))
    const end = (await recordOf(runId)).find(({ type }) => type === 'tool_call_end')!
    expect(end.payload).toMatchObject({ toolName: 'Bash', success: true, result: { stdout: 'a.txt' } })
    const failing = hookInput('PreToolUse', 'tu_2', 'Bash', { command: 'false' })
    await fire(k, 'PreToolUse', failing)
    await fire(k, 'PostToolUseFailure', { ...failing, error: 'exit code 1' })
    expect((await recordOf(runId)).at(-1)!.payload).toMatchObject({ success: false, error: { message: 'exit code 1' } })
    await k.close()
  })

  it('deny what the policy denies, and what a person rejects', async () => {
    const k = await open({ policy: { deniedTools: ['WebFetch'], requiresApproval: ['Bash'] } })
    expect(await fire(k, 'PreToolUse', hookInput('PreToolUse', 'tu_1', 'WebFetch', { url: 'x' }))).toMatchObject({
      hookSpecificOutput: {
        permissionDecision: 'deny',
        permissionDecisionReason: expect.stringContaining('denied by'),
      },
    })
    const asked = fire(k, 'PreToolUse', hookInput('PreToolUse', 'tu_2', 'Bash', { command: 'rm' }))
    await decide('rejected')
    expect(await asked).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } })
    const again = fire(k, 'PreToolUse', hookInput('PreToolUse', 'tu_3', 'Bash', { command: 'ls' }))
    await decide('approved')
    expect(await again).toMatchObject({
      hookSpecificOutput: { permissionDecision: 'allow', permissionDecisionReason: expect.stringContaining('bo') },
    })
    await k.close()
  })

  it('deny a call that nobody decides in time, and one that cannot be recorded', async () => {
    const k = await open({ policy: { requiresApproval: ['Bash'] }, timeoutMs: 100 })
    const late = await fire(k, 'PreToolUse', hookInput('PreToolUse', 'tu_1', 'Bash', { command: 'rm' }))
    expect(late).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } })
    expect(await Array.fromAsync(keepup.approvals())).toEqual([])
    const { log } = keepup.services
    const append = log.append.bind(log)
    log.append = () => Promise.reject(new Error('no space left'))
    const unrecorded = await fire(k, 'PreToolUse', hookInput('PreToolUse', 'tu_2', 'Read', { path: 'a' }))
    log.append = append
    expect(unrecorded).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } })
    expect(k.hooks.PreToolUse[0]).toMatchObject({ onFailure: 'block' })
    await k.close()
  })

  it('ask a person for the permissions that Claude asks for, and end the call that was refused', async () => {
    const k = await open()
    const write = (event: string) => hookInput(event, 'tu_1', 'Write', { file_path: 'a' })
    await fire(k, 'PreToolUse', write('PreToolUse'))
    const asked = fire(k, 'PermissionRequest', write('PermissionRequest'))
    await decide('rejected')
    expect(await asked).toMatchObject({ hookSpecificOutput: { decision: { behavior: 'deny' } } })
    const end = (await recordOf(await k.runOf({ projectKey: 'p', sessionId: 's' }))).find(
      ({ type }) => type === 'tool_call_end',
    )
    expect(end!.payload.error).toMatchObject({ code: 'PERMISSION_DENIED' })
    const other = fire(k, 'PermissionRequest', hookInput('PermissionRequest', '', 'Write', { file_path: 'b' }))
    await decide('approved')
    expect(await other).toMatchObject({ hookSpecificOutput: { decision: { behavior: 'allow' } } })
    await k.close()
  })

  it('end a permission that nobody decides in time, with its call and its question', async () => {
    const k = await open({ timeoutMs: 100 })
    const write = (event: string) => hookInput(event, 'tu_1', 'Write', { file_path: 'a' })
    await fire(k, 'PreToolUse', write('PreToolUse'))
    const answer = await fire(k, 'PermissionRequest', write('PermissionRequest'))
    expect(answer.hookSpecificOutput).toMatchObject({
      decision: { behavior: 'deny', message: expect.stringContaining('no person has decided') },
    })
    expect(await Array.fromAsync(keepup.approvals())).toEqual([])
    const record = await recordOf(await k.runOf({ projectKey: 'p', sessionId: 's' }))
    expect(record.find(({ type }) => type === 'permission_decided')!.payload).toMatchObject({ decision: 'rejected' })
    const end = record.find(({ type }) => type === 'tool_call_end')!
    expect(end.payload.error).toMatchObject({ code: 'PERMISSION_DENIED' })
    await k.close()
  })

  it('tell no refusal of a person when the run was cancelled', async () => {
    const k = await open()
    const asked = fire(k, 'PermissionRequest', hookInput('PermissionRequest', 'tu_1', 'Write', { file_path: 'a' }))
    await expect.poll(async () => (await Array.fromAsync(keepup.approvals())).length).toBe(1)
    await keepup.cancelRun({ id: await k.runOf({ projectKey: 'p', sessionId: 's' }), reason: 'wrong' })
    expect((await asked).hookSpecificOutput).toMatchObject({
      decision: { behavior: 'deny', message: expect.stringContaining('the run ended') },
    })
    await k.close()
  })

  it('end the calls that an agent leaves without an outcome when it stops, and all when the session ends', async () => {
    const k = await open()
    const use = (id: string, more: object = {}) =>
      fire(k, 'PreToolUse', hookInput('PreToolUse', id, 'Bash', { command: id }, more))
    const ends = async () =>
      (await recordOf(await k.runOf({ projectKey: 'p', sessionId: 's' })))
        .filter(({ type }) => type === 'tool_call_end')
        .map(({ payload }) => (payload.error as { code: string }).code)
    await use('main')
    await use('sub', { agent_id: 'x' })
    await fire(k, 'Stop', hookInput('Stop', '', '', {}))
    expect(await ends()).toEqual(['CANCELLED'])
    await fire(k, 'SubagentStop', hookInput('SubagentStop', '', '', {}, { agent_id: 'x' }))
    expect(await ends()).toEqual(['CANCELLED', 'CANCELLED'])
    await use('last', { agent_id: 'y' })
    await fire(k, 'SessionEnd', hookInput('SessionEnd', '', '', {}, { reason: 'other' }))
    expect(await ends()).toHaveLength(3)
    await k.close()
  })

  it('leave a call unknown whose program ended before its outcome', async () => {
    const k = await open()
    await fire(k, 'PreToolUse', hookInput('PreToolUse', 'tu_1', 'Bash', { command: 'deploy' }))
    await k.close()
    const again = await open()
    const runId = await again.runOf({ projectKey: 'p', sessionId: 's' })
    const end = (await recordOf(runId)).find(({ type }) => type === 'tool_call_end')
    expect(end!.payload.error).toMatchObject({ code: 'UNKNOWN_OUTCOME' })
    await again.close()
  })
})

async function recordOf(runId: string) {
  const { events } = await keepup.listRunEvents({ id: runId, limit: 500 })
  return events.map(({ type, payload }) => ({ type, payload: payload as unknown as Record<string, unknown> }))
}
const events = async (runId: string) => (await recordOf(runId)).map(({ type }) => type)

async function decide(decision: 'approved' | 'rejected') {
  const asked = async () => (await Array.fromAsync(keepup.approvals()))[0] ?? null
  await expect.poll(asked, { timeout: 10_000 }).not.toBeNull()
  const { toolCallId } = (await asked())!
  const { questionHash } = await keepup.getApproval({ toolCallId })
  await keepup.decideApproval({ toolCallId, decision, questionHash, by: 'bo' })
}
