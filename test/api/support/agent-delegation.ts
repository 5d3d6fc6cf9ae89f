import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { z } from 'zod'
import { type KeepUpOptions, openKeepUp } from '../../../api/index.ts'
import { unsalted } from '../../../domain/log/seal.ts'
import type { AgentBackend, AgentCompletion, AgentRunRequest, BackendRun } from '../../../domain/ports/external.ts'
import { ALL_RIGHTS, NO_RIGHTS } from '../../../domain/tree/rights.ts'
import { freshFolders } from '../../support/folders.ts'

const DONE: AgentCompletion = { status: { code: 0, signal: null }, success: true, finalText: 'It is written.' }
const USAGE = { scope: 'run', inputTokens: 100, cachedInputTokens: 40, outputTokens: 20, model: 'm' } as const
export const MODE = 'backend.other.mode'

/** Another agent that does what the test says, and what it was started with. */
export function otherAgent(work: (run: BackendRun) => Promise<AgentCompletion> = async () => DONE) {
  const starts: AgentRunRequest[] = []
  const backend: AgentBackend = {
    kind: 'other',
    capabilities: ['agent_api.run', 'agent_api.events', 'agent_api.config.model.v1', MODE],
    extensions: { [MODE]: z.enum(['read', 'all']) },
    levels: [
      { grants: { ...NO_RIGHTS, read: true }, extensions: { [MODE]: 'read' } as never },
      { grants: ALL_RIGHTS, extensions: { [MODE]: 'all' } as never },
    ],
    reportsCost: true,
    async start(request, run) {
      starts.push(request)
      await run.emit({
        events: [{ kind: 'TextOutput', text: 'I look.' }],
        usage: { ...USAGE, cost: { nanoDollars: 5_000, scope: 'run' } },
      })
      return work(run)
    },
  }
  return { backend, starts }
}

export const finish = (summary: string) => ({ calls: [{ tool: 'complete_task', arguments: { summary } }] })
const delegate = { calls: [{ tool: 'delegate_to_agent', arguments: { role: 'coder', task: 'code it' } }] }
const scripts = {
  lead: { script: 1, turns: [delegate, finish('The lead is done.')] },
} satisfies KeepUpOptions['scripts']

export async function opened(
  agents: AgentBackend[],
  more: KeepUpOptions['scripts'] = {},
  settings: object = { roles: { coder: { kind: 'other' } } },
  own: Pick<KeepUpOptions, 'tools'> = {},
) {
  const { data, ws, remove } = freshFolders()
  mkdirSync(data, { recursive: true })
  writeFileSync(join(data, 'keepup.json'), JSON.stringify({ agents: settings }))
  const keepup = await openKeepUp({ data, scripts: { ...scripts, ...more }, agents, ...own })
  onTestFinished(async () => {
    await keepup.close()
    remove()
  })
  const lead = (policy: object = {}, more: object = {}) =>
    keepup.start({
      ...{ task: 'lead', model: 'scripted:lead', workspace: ws },
      policy: { mode: 'batch', sandboxed: false, backends: ['other'], ...policy },
      ...more,
    })
  const events = async () =>
    (await Array.fromAsync(keepup.services.log.readAll(null))).flat().map(({ header, body }) => ({
      ...header,
      body: body === null ? null : JSON.parse(new TextDecoder().decode(unsalted(body))),
    }))
  const ended = async () =>
    (await events()).find(({ type, body }) => type === 'tool_call_end' && body.toolName === 'delegate_to_agent')?.body
  const sql = async (text: string) => {
    const { columns, rows } = await keepup.sql(text)
    return rows.map((row) => Object.fromEntries(columns.map((name, n) => [name, row[n]])))
  }
  return { keepup, data, ws, lead, events, ended, sql }
}
