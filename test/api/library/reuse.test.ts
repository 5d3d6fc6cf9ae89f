// @module-tag git
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type KeepUp, type KeepUpOptions, openKeepUp } from '../../../api/index.ts'
import { freshFolders } from '../../support/folders.ts'
import { cliFolder, idIn } from '../support/cli.ts'

// Forks that take the recorded outcomes of their source, through the entry points.

const finish = (summary: string) => ({ calls: [{ tool: 'complete_task', arguments: { summary } }] })
const delegate = { tool: 'delegate_to_agent', arguments: { role: 'researcher', task: 'research it' } }

const scripts = {
  team: {
    script: 1,
    turns: [
      { calls: [{ tool: 'set_context', arguments: { key: 'part', value: 1 } }] },
      { calls: [delegate] },
      finish('The team has done it.'),
    ],
    parts: [{ name: 'researcher', when: { firstInputContains: 'research it' }, turns: [finish('It is known.')] }],
  },
} satisfies KeepUpOptions['scripts']

describe('in the library', () => {
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

  it('a fork takes what a child of its source has answered, and starts no child', async () => {
    const { runId } = await keepup.start({ task: 'lead', model: 'scripted:team', policy: { mode: 'batch' } })
    expect(await keepup.drive(runId)).toEqual({ end: 'done' })
    const fork = await keepup.fork(runId, { at: { turn: 1 }, reuse: true })
    expect(await keepup.drive(fork.runId)).toEqual({ end: 'done' })
    expect(await keepup.reused(fork.runId)).toMatchObject({ source: runId, models: 2, tools: 2, left: null })
    const born: string[] = []
    for await (const page of keepup.services.log.readAll(null, { bodies: false }))
      for (const { header } of page)
        if (header.type === 'agent_started' || header.type === 'forked') born.push(header.runId ?? '')
    expect(born).toEqual([runId, runId, fork.runId])
    expect((await keepup.verifyRun({ id: fork.runId })).ok).toBe(true)
    // Its delegation is that of the record, with all that the child did for it.
    const { first, places } = await keepup.compare(runId, fork.runId)
    expect(first).toBeNull()
    expect(places.map(({ path }) => path.join(' / '))).toContain('turn 2 / call 0 / agent / turn 1 / answer')
  })
})

describe('on the command line, which asks over HTTP', { timeout: 120_000 }, () => {
  const folder = cliFolder()
  afterAll(() => folder.clean())

  it('a fork says what it has taken, and from which run', async () => {
    const workspace = folder.workspace()
    const ran = await folder.look('run', 'write', '-w', workspace, '--tools', 'write_file', '--approve', 'write_file')
    const id = idIn(ran.err)
    const made = await folder.look('fork', id, '--event', '2', '--reuse')
    expect(made).toMatchObject({ code: 0 })
    const [fork] = JSON.parse((await folder.look('runs', 'list', '-o', 'json')).out)
      .map(({ runId }: { runId: string }) => runId)
      .filter((one: string) => one !== id)
    const shown = await folder.look('runs', 'show', fork)
    expect(shown.out).toMatch(new RegExp(`^record +\\d+ answers? and 2 results taken from ${id}, not left$`, 'm'))
    const { reuse } = JSON.parse((await folder.look('runs', 'show', fork, '-o', 'json')).out)
    expect(reuse).toMatchObject({ source: id, tools: 2, left: null })
  })
})
