import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  deleteSession,
  getSessionMessages,
  getSubagentMessages,
  listSessions,
  listSubagents,
  type Options,
  query,
  type SDKMessage,
} from '@anthropic-ai/claude-agent-sdk'
import { expect, onTestFinished, test } from 'vitest'
import { type KeepUp, openKeepUp } from '../../api/index.ts'
import { type KeepUpForClaude, type KeepUpForClaudeOptions, keepupForClaude } from '../../api/library/claude-kit.ts'
import { ANSWER, NOTE, prompt, type Reply, standIn } from '../agents/real/stand-in.ts'
import { anthropic } from '../agents/real/wires.ts'
import { tempFolder } from '../support/folders.ts'

// The Claude Agent SDK as it is published, with its own Claude Code, against a model's API of ours on the loopback
// interface.

async function surroundings() {
  const folder = tempFolder()
  const workspace = join(folder, 'work')
  mkdirSync(workspace)
  const note = join(workspace, 'note.txt')
  writeFileSync(note, `${NOTE}\n`)
  const model = await standIn(anthropic, note)
  onTestFinished(() => model.close())
  /** Each machine has a home of its own. */
  const envOf = (machine: string) => ({
    ...{ PATH: process.env.PATH, HOME: join(folder, machine), CLAUDE_CONFIG_DIR: join(folder, machine, 'claude') },
    ...{ ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'sk-stand-in', CLAUDE_CODE_MAX_RETRIES: '0' },
    ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_TELEMETRY: '1', DISABLE_AUTOUPDATER: '1' },
  })
  return { folder, cwd: workspace, model, envOf, env: envOf('one') }
}

type Rules = Partial<Omit<Extract<KeepUpForClaudeOptions, { readonly keepup: KeepUp }>, 'keepup'>>

async function place(more: Rules = {}) {
  const { folder, cwd: workspace, model, envOf } = await surroundings()
  const keepup = await openKeepUp({ data: join(folder, 'data'), by: 'ada' })
  onTestFinished(() => keepup.close())
  const open = () => keepupForClaude({ ...more, keepup })
  const options = (k: Awaited<ReturnType<typeof open>>, machine: string): Options => ({
    ...{ sessionStore: k.sessionStore, hooks: hooksOf(k) },
    ...{ cwd: workspace, model: 'claude-sonnet-4-5', settingSources: [], maxTurns: 3 },
    env: envOf(machine),
  })
  const run = async (k: Awaited<ReturnType<typeof open>>, reply: Reply, machine: string, resume?: string) => {
    const asked = { ...options(k, machine), ...(resume !== undefined && { resume }) }
    const messages: SDKMessage[] = []
    try {
      for await (const message of k.observe(query({ prompt: prompt(reply), options: asked }))) messages.push(message)
    } catch (error) {
      // The model of ours asks for a denied tool again and again.
      if (!String(error).includes('maximum number of turns')) throw error
    }
    return messages
  }
  const recordOf = async (id: string) => (await keepup.listRunEvents({ id, limit: 500 })).events
  return { keepup, open, run, workspace, recordOf, model }
}

/** The types of the SDK accept what this adapter gives. */
const hooksOf = ({ hooks }: KeepUpForClaude): NonNullable<Options['hooks']> => hooks

const idOf = (messages: readonly SDKMessage[]): string => messages.find(({ type }) => type === 'result')!.session_id!
const resultOf = (messages: readonly SDKMessage[]) => messages.find(({ type }) => type === 'result')

test('a session is in the log with its tool calls and its cost, and continues on another machine', async () => {
  const { keepup, open, run, workspace, recordOf } = await place()
  const k = await open()
  const messages = await run(k, 'tool', 'one')
  expect(resultOf(messages)).toMatchObject({ subtype: 'success', result: `${ANSWER}: ${NOTE}` })
  const sessionId = idOf(messages)
  await k.close()
  // Hooks and transcripts of a session belong to one run.
  const runs = await Array.fromAsync(keepup.runs())
  expect(runs).toHaveLength(1)
  const { runId } = runs[0]!
  const events = await recordOf(runId)
  expect(events.find(({ type }) => type === 'tool_call_end')?.payload).toMatchObject({
    toolName: 'Read',
    success: true,
  })
  expect(events.map(({ type }) => type)).not.toContain('mirror_gap')
  expect(await keepup.run(runId)).toMatchObject({ backend: 'claude_agent_sdk', own: { outputTokens: 14 } })
  expect(await keepup.verifyRun({ id: runId })).toMatchObject({ ok: true })

  const other = await open()
  const more = await run(other, 'text', 'two', sessionId)
  expect(resultOf(more)).toMatchObject({ subtype: 'success', result: ANSWER, session_id: sessionId })
  const options = { sessionStore: other.sessionStore, dir: workspace }
  const told = await getSessionMessages(sessionId, options)
  expect(JSON.stringify(told)).toContain(prompt('tool'))
  expect(JSON.stringify(told)).toContain(prompt('text'))
  expect((await listSessions(options)).map((one) => one.sessionId)).toEqual([sessionId])
  expect((await recordOf(runId)).map(({ type }) => type)).not.toContain('mirror_gap')
  expect(await listSubagents(sessionId, options)).toEqual([])
  expect(await getSubagentMessages(sessionId, 'none', options)).toEqual([])

  await deleteSession(sessionId, options)
  expect(await listSessions(options)).toEqual([])
  expect(JSON.stringify(await recordOf(runId))).not.toContain('keepup-tool')
  await other.close()
})

test('a tool that the policy denies does not run', async () => {
  const { open, run, model } = await place({ policy: { deniedTools: ['Read'] } })
  const k = await open()
  await run(k, 'tool', 'one')
  expect(model.got.some(({ raw }) => raw.includes(NOTE))).toBe(false)
  expect(model.got.some(({ raw }) => raw.includes('denied by'))).toBe(true)
  await k.close()
})

test('a tool waits for a person, and is denied when nobody decides', async () => {
  const { keepup, open, run, model } = await place({ policy: { requiresApproval: ['Read'] }, timeoutMs: 4_000 })
  const k = await open()
  const deciding = (async () => {
    const asked = async () => (await Array.fromAsync(keepup.approvals()))[0] ?? null
    await expect.poll(asked, { timeout: 60_000 }).not.toBeNull()
    const { toolCallId } = (await asked())!
    const { questionHash } = await keepup.getApproval({ toolCallId })
    await keepup.decideApproval({ toolCallId, decision: 'approved', questionHash, by: 'bo' })
  })()
  const messages = await run(k, 'tool', 'one')
  await deciding
  expect(resultOf(messages)).toMatchObject({ result: `${ANSWER}: ${NOTE}` })
  const before = model.got.length
  await run(k, 'tool', 'two')
  expect(model.got.slice(before).some(({ raw }) => raw.includes('no person has decided'))).toBe(true)
  await k.close()
})

test('the example gives Claude a task and continues the session', async () => {
  const { work } = await import('../../api/docs/examples/claude-agent-sdk/main.ts')
  const { env, cwd, folder } = await surroundings()
  const options = { data: join(folder, 'data'), env, cwd, model: 'claude-sonnet-4-5', settingSources: [] }
  const { result, sessionId } = await work(prompt('text'), options)
  expect(result).toBe(ANSWER)
  expect(await work(prompt('text'), { ...options, resume: sessionId })).toEqual({ result: ANSWER, sessionId })
})
