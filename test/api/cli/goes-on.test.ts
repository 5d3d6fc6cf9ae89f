// @module-tag git
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { lockWorkspace } from '../../../adapters/workspace/lock.ts'
import { openKeepUp } from '../../../api/index.ts'
import { defineTool, z } from '../../../api/library/tool-kit.ts'
import { cliFolder, idIn } from '../support/cli.ts'

const ringBell = defineTool({
  name: 'bell:ring',
  description: 'Rings.',
  parameters: z.strictObject({}),
  effect: 'irreversible',
  timeLimitMs: 1000,
  run: async () => ({ content: 'rang' }),
})

describe('how a run goes on is told', { timeout: 120_000 }, () => {
  const folder = cliFolder()
  afterAll(() => folder.clean())

  it('by whom, where its tools are those of another program', async () => {
    const scripts = { bell: { script: 1 as const, turns: [{ calls: [{ tool: 'bell__ring', arguments: {} }] }] } }
    const program = await openKeepUp({ data: folder.data, tools: [ringBell], scripts })
    const policy = { requiresApproval: ['bell:*'] }
    const { runId } = await program.start({ task: 'ring', model: 'scripted:bell', policy, drive: false })
    expect(await program.drive(runId)).toMatchObject({ end: 'waiting', for: 'approval' })
    await program.close()
    const elsewhere = 'it goes on in the program that has its tools; this one does not have bell:ring'
    expect((await folder.look('runs', 'show', runId)).err).toContain(elsewhere)
    const approved = await folder.look('approve', `${runId}.t1.c0`)
    expect([approved.code, approved.err.includes('keepup resume')]).toEqual([0, false])
    expect(approved.err).toContain(elsewhere)
  })

  it('where the process that serves tries it again by itself', async () => {
    const serve = folder.start(['serve', '--port', '0'])
    await serve.said('serving')
    const workspace = folder.workspace()
    const held = lockWorkspace(workspace, folder.data, 'other')
    const { code, err } = await folder.look('run', 'finish', '-w', workspace)
    const id = idIn(err)
    expect([code, err]).toEqual([1, expect.stringContaining('WORKSPACE_BUSY')])
    expect(err).toContain('the process that serves this folder tries it again by itself')
    expect(err).toContain(`keepup pause ${id}`)
    expect(err).toContain(`keepup cancel ${id}`)
    expect(err).not.toContain('keepup resume')
    held.release()
    serve.process.kill('SIGTERM')
    await serve.ended
  })

  it('by whose key, where the process that owns the folder has none', async () => {
    const serve = folder.start(['serve', '--port', '0'], { env: { ANTHROPIC_API_KEY: '' } })
    await serve.said('serving')
    const asked = ['run', 'x', '--model', 'claude-sonnet-5-5', '--no-workspace']
    const { code, err } = await folder.start(asked, { env: { ANTHROPIC_API_KEY: 'sk-of-this-command-alone' } }).ended
    expect([code, err]).toEqual([2, expect.stringContaining(`the process that owns ${folder.data} has no key`)])
    expect(err).toContain('set ANTHROPIC_API_KEY')
    expect(err).toContain('start it again with the key set')
    serve.process.kill('SIGTERM')
    await serve.ended
  })

  it('after a model that was away, and how often it is asked', async () => {
    const script = join(folder.root, 'away.json')
    const away = { fail: { code: 'OVERLOADED', times: 9 }, text: 'back again' }
    writeFileSync(script, JSON.stringify({ script: 1, turns: [away] }))
    writeFileSync(join(folder.data, 'keepup.json'), JSON.stringify({ retry: { modelOutageMs: 0 } }))
    const model = ['--model', `scripted:${script}`, '--no-workspace']
    const { code, err } = await folder.look('run', 'x', ...model, '--max-retries', '0')
    expect([code, err]).toEqual([3, expect.stringContaining('MODEL_FAILED')])
    expect(err).toContain(`go on from there with: keepup fork ${idIn(err)}`)
    expect(err).toContain('retry.modelOutageMs')
    const failed = await folder.look('events', idIn(err), '-o', 'jsonl')
    expect(failed.out.match(/"recoverable":true/g)).toHaveLength(3)
  })

  it('after a script without a further turn: what failed before, and no longer wait', async () => {
    const script = join(folder.root, 'typo.json')
    writeFileSync(script, JSON.stringify({ script: 1, turns: [{ calls: [{ tool: 'wrtie_file', arguments: {} }] }] }))
    const { code, err } = await folder.look('run', 'x', '--model', `scripted:${script}`, '--no-workspace')
    expect(code).toBe(3)
    const lines = err.trimEnd().split('\n')
    const end = lines.findIndex((line) => line.startsWith('the run ended in ERROR MODEL_FAILED: SCRIPT_EXHAUSTED'))
    expect(lines[end]).toContain('the last call failed: RESOURCE_NOT_FOUND: there is no tool "wrtie_file"')
    expect(lines.slice(end + 1)).toEqual([
      expect.stringContaining(`mend the script, then go on from there with: keepup fork ${idIn(err)}`),
    ])
    expect(lines.filter((line) => line.startsWith('ERROR'))).toEqual([])
  })
})
