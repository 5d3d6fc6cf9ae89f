// @module-tag git

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type KeepUp, type KeepUpOptions, openKeepUp } from '../../../api/index.ts'
import { unsalted } from '../../../domain/log/seal.ts'
import { freshFolders } from '../../support/folders.ts'

// Trees of agents as a program sees them: real adapters in one folder, which the agents of a run share; a scripted model.

const finish = (summary: string) => ({ calls: [{ tool: 'complete_task', arguments: { summary } }] })
const advance = { calls: [{ tool: 'advance_phase', arguments: { summary: 'on' } }] }
const tests = { calls: [{ tool: 'run_command', arguments: { command: 'true' } }] }
const delegate = (role: string, task: string) => ({ tool: 'delegate_to_agent', arguments: { role, task } })
const write = (path: string, content: string) => ({ calls: [{ tool: 'write_file', arguments: { path, content } }] })

const scripts = {
  team: {
    script: 1,
    turns: [
      {
        calls: [delegate('researcher', 'research it'), delegate('coder', 'code it'), delegate('reviewer', 'review it')],
      },
      advance,
      {
        calls: [
          {
            tool: 'advance_phase',
            arguments: { summary: 'drawn', artifacts: [{ type: 'diagram', title: 'All', content: 'a -> b' }] },
          },
        ],
      },
      finish('The team has done it.'),
    ],
    parts: [
      { name: 'researcher', when: { firstInputContains: 'research it' }, turns: [finish('It is known.')] },
      {
        name: 'coder',
        when: { firstInputContains: 'code it' },
        turns: [advance, advance, write('a.test.js', 'a'), advance, tests, finish('It is written.')],
      },
      { name: 'reviewer', when: { firstInputContains: 'review it' }, turns: [{ text: 'I stop here.' }] },
    ],
  },
} satisfies KeepUpOptions['scripts']

let folders: ReturnType<typeof freshFolders>
let keepup: KeepUp
beforeEach(async () => {
  folders = freshFolders()
  keepup = await openKeepUp({ data: folders.data, scripts })
})
afterEach(async () => {
  await keepup.close()
  folders.remove()
})

const events = async () => (await Array.fromAsync(keepup.services.log.readAll(null))).flat()

it('an architect delegates to a researcher, a coder and a reviewer, who work in its folder side by side', async () => {
  const { runId } = await keepup.start({
    task: 'lead the team',
    role: 'architect',
    model: 'scripted:team',
    workspace: folders.ws,
    policy: { mode: 'batch', sandboxed: false },
    testCommand: ['true'],
  })
  const end = await keepup.drive(runId)
  expect(end).toEqual({ end: 'done' })
  expect(readFileSync(join(folders.ws, 'a.test.js'), 'utf8')).toBe('a')
  const told = (await events()).flatMap(({ header, body }) =>
    header.agentId === runId && header.type === 'tool_call_end'
      ? [JSON.parse(new TextDecoder().decode(unsalted(body!)))]
      : [],
  )
  const delegations = told.filter(({ toolName }) => toolName === 'delegate_to_agent')
  expect(delegations.map(({ success, error }) => (success ? 'ok' : error.rule)).sort()).toEqual([
    ...['NO_COMPLETION', 'ok', 'ok'],
  ])
  // One version of the files for what the children have done to them.
  expect((await events()).filter(({ header }) => header.type === 'workspace_drifted')).toEqual([])
  for (const id of new Set((await events()).flatMap(({ header }) => header.agentId ?? [])))
    expect((await keepup.services.runtime.verify(id)).problems).toEqual([])
})
