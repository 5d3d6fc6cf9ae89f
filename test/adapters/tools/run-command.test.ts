// @module-tag git
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createUnconfined } from '../../../adapters/sandbox/unconfined.ts'
import { openWorkspace } from '../../../adapters/workspace/open.ts'
import { workspaceTools } from '../../../adapters/workspace/tools/builtin.ts'
import { byteLength } from '../../../domain/calls/truncate.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import type { Command, Sandbox, ToolContext } from '../../../domain/ports/index.ts'
import { createRedactor } from '../../../domain/secrets/redactor.ts'
import { freshFolders } from '../../support/folders.ts'
import { playedTimers } from '../../support/time/played-timers.ts'

let folders: ReturnType<typeof freshFolders>
let context: ToolContext
const tool = workspaceTools().find(({ spec }) => spec.name === 'run_command')!
const call = (args: JsonObject, more: Partial<ToolContext> = {}) => tool.run(args, { ...context, ...more })
const content = async (args: JsonObject, more?: Partial<ToolContext>) => (await call(args, more)).content
const _put = (path: string, data: string | Buffer) => writeFileSync(join(folders.ws, path), data)

beforeEach(async () => {
  folders = freshFolders()
  const workspace = await openWorkspace(folders.ws, { dataFolder: folders.data })
  const sandbox = createUnconfined({ workspace: folders.ws, dataFolder: folders.data, driverId: 'd', graceMs: 100 })
  const { signal } = new AbortController()
  context = { runId: 'r', agentId: 'r', toolCallId: 'r.t1.c0', attempt: 1, signal, workspace, sandbox }
})
afterEach(() => folders.remove())

describe('run_command', () => {
  it('takes a non-zero exit for a result, and gives the parsed argv to gates', async () => {
    mkdirSync(join(folders.ws, 'sub'))
    const result = await call({ command: 'pwd; echo no >&2; exit 3', cwd: 'sub' })
    expect(result.content).toMatchObject({
      exitCode: 3,
      signal: null,
      timedOut: false,
      stdout: `${folders.ws}/sub\n`,
      stderr: 'no\n',
      stderrBytes: 3,
    })
    expect(result.detail).toEqual({ argv: null, exitCode: 3, confined: false })
    expect((await call({ command: "echo 'a b'" })).detail).toMatchObject({ argv: ['echo', 'a b'] })
  })

  it('asks the sandbox for a command without network', async () => {
    const asked: Command[] = []
    const exec: Sandbox['exec'] = async (command) => {
      asked.push(command)
      throw new Error('seen')
    }
    const sandbox = { confined: true, exec }
    await expect(tool.run({ command: 'x' }, { ...context, sandbox })).rejects.toThrow('seen')
    expect(asked.map(({ network }) => network)).toEqual([false])
  })

  it('ends with TIMEOUT and the last output at its time limit', async () => {
    const pass = playedTimers()
    const command = 'echo begun; sleep 60'
    const failing = call({ command, timeoutMs: 30_000 }, { onOutput: () => pass(30_000) })
    await expect(failing).rejects.toMatchObject({
      code: 'TIMEOUT',
      message: expect.stringMatching(/30000 ms.*begun$/s),
    })
  })

  it('bounds its output, reports the sizes, and streams', async () => {
    const live: string[] = []
    const command = `yes out | head -c 10000000; yes err | head -c 1000000 >&2`
    const shown = (await content({ command }, { onOutput: (text) => live.push(text) })) as JsonObject
    expect(byteLength(`${shown.stdout}${shown.stderr}`)).toBeLessThanOrEqual(30_720)
    expect(shown).toMatchObject({ stdoutBytes: 10_000_000, stderrBytes: 1_000_000 })
    expect(shown.stdout).toMatch(/^out\n[\s\S]*left out; redirect it to a file[\s\S]*out\n$/)
    expect(live.join('').length).toBe(11_000_000)
  })

  it('gives the whole result, and says where to read on in each output', async () => {
    const command = `seq 1 70000; seq 1 9000 >&2`
    const readOn = (from: number) => `from ${from}`
    const { content, whole } = await call({ command }, { readOn })
    const lines = (n: number) => Array.from({ length: n }, (_, i) => `${i + 1}\n`).join('')
    const text = Buffer.concat(whole as Uint8Array[]).toString()
    expect(text).toBe(`${lines(70_000)}\n[stderr]\n${lines(9_000)}`)
    for (const output of ['stdout', 'stderr']) {
      const shown = (content as JsonObject)[output] as string
      const [, before, from] = /(\d+)\n\[… .*; from (\d+) …\]/.exec(shown)!
      expect(text.slice(Number(from)).startsWith(`\n${Number(before) + 1}\n`), output).toBe(true)
    }
    expect((await call({ command: 'echo short' }, { readOn })).whole).toBeUndefined()
  })

  it('hides secrets before it cuts', async () => {
    const { redactStream } = createRedactor({ key: new Uint8Array(32), known: ['S3cretS3cretS3cret'] })
    const { exec } = context.sandbox as Sandbox
    const hiding: Sandbox = { confined: false, exec: (run, signal, told) => exec(run, signal, told, redactStream) }
    const command = `i=0; while [ $i -lt 4000 ]; do printf S3cretS3cretS3cret; i=$((i+1)); done; seq 1 9000`
    const { content, whole } = await call({ command }, { sandbox: hiding })
    for (const text of [(content as JsonObject).stdout, Buffer.concat(whole as Uint8Array[]).toString()]) {
      expect(text).toMatch(/secret:ku_/)
      expect(text).not.toMatch(/S3c|cretS/)
    }
  })
})
