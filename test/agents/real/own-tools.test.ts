import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { describe, expect, onTestFinished, type TestContext, test } from 'vitest'
import { claudeCode } from '../../../adapters/agents/cli/claude-code.ts'
import { openKeepUp } from '../../../api/index.ts'
import { unsalted } from '../../../domain/log/seal.ts'
import { noting } from '../../api/support/agent-tools.ts'
import { tempFolder } from '../../support/folders.ts'
import { CACHE, CLIS, installed, type RealCli } from './clis.ts'
import { ANSWER, NOTED, prompt, standIn } from './stand-in.ts'

// A run of keepup's own agent gives its coder to a real command line, whose model calls a tool of keepup's over MCP.

async function delegating(cli: RealCli, effect: 'pure' | 'irreversible', { skip }: TestContext) {
  const found = await installed(cli)
  if ('missing' in found) return skip(found.missing)
  mkdirSync(CACHE, { recursive: true })
  const home = mkdtempSync(join(CACHE, 'home-'))
  const [data, work] = [tempFolder(), realpathSync(tempFolder())]
  const model = await standIn(cli.wire, join(work, 'note.txt'))
  const before = { ...process.env }
  const PATH = [dirname(found.program), dirname(process.execPath), before.PATH].join(delimiter)
  Object.assign(process.env, { PATH, HOME: home }, cli.prepare(home, model.url))
  onTestFinished(() => {
    process.env = before
    model.close()
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  })
  const { kind } = cli.agent
  writeFileSync(join(data, 'keepup.json'), JSON.stringify({ agents: { roles: { coder: { kind, model: cli.model } } } }))
  const lead = {
    script: 1 as const,
    turns: [
      { calls: [{ tool: 'delegate_to_agent', arguments: { role: 'coder', task: prompt('own') } }] },
      { calls: [{ tool: 'complete_task', arguments: { summary: 'The lead is done.' } }] },
    ],
  }
  const { tool, calls } = noting({ effect }, async ({ text }) => ({ content: `noted ${text}` }))
  const keepup = await openKeepUp({ data, scripts: { lead }, tools: [tool] })
  onTestFinished(() => keepup.close())
  const start = (policy: object) =>
    keepup.start({
      ...{ task: 'lead', model: 'scripted:lead', workspace: work },
      policy: { mode: 'batch', sandboxed: false, backends: [kind], ...policy },
    })
  return { keepup, start, calls, model }
}

const left = () => readdirSync(tmpdir()).filter((name) => name.startsWith('keepup-tools-'))

const cases = CLIS.filter(({ agent }) => agent.takesTools).flatMap((cli) => [
  ['all rights', 'irreversible', {}, cli] as const,
  // Where it is held to reading by a mode of its own, it calls what changes nothing.
  ...(cli.agent === claudeCode
    ? [['reading alone', 'pure', { requiresApproval: ['write_file', 'run_command'] }, cli] as const]
    : []),
])

describe('keepup’s tools over MCP', { timeout: 300_000 }, () => {
  for (const [rights, effect, policy, cli] of cases)
    test(`${cli.agent.kind} with ${rights}: a call, its record, its answer to the model`, async (context) => {
      const before = left()
      const { keepup, start, calls, model } = await delegating(cli, effect, context)
      const { runId } = await start(policy)
      expect(await keepup.drive(runId)).toEqual({ end: 'done' })
      expect(calls.map(({ args }) => args)).toEqual([{ text: 'one' }])
      expect(model.got.some(({ raw }) => raw.includes(NOTED))).toBe(true)
      const log = (await Array.fromAsync(keepup.services.log.readAll(null))).flat()
      const ofChild = log.filter(({ header }) => header.stream.startsWith('external-'))
      const ofCall = ofChild.filter(({ header }) => header.toolCallId !== undefined).map(({ header }) => header.type)
      expect(ofCall).toEqual(['tool_call_requested', 'tool_call_start', 'tool_call_end'])
      const ended = ofChild.find(({ header }) => header.type === 'external_ended')!
      expect(JSON.parse(new TextDecoder().decode(unsalted(ended.body!)))).toMatchObject({
        success: true,
        finalText: ANSWER,
      })
      expect(left()).toEqual(before)
    })
})
