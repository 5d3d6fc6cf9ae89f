import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, test } from 'vitest'
import { createAcpBackend } from '../../../adapters/agents/acp/backend.ts'
import { createCliBackend } from '../../../adapters/agents/process/cli-backend.ts'
import { reap } from '../../../adapters/sandbox/registry.ts'
import { removeScratch } from '../../../adapters/sandbox/scratch.ts'
import { heard, plainBackend } from '../../support/external/plain-agent.ts'
import { plainAgent } from '../../support/external/plain-agent-definition.ts'
import { tempFolder } from '../../support/folders.ts'

const program = (path: string, script: string): string => {
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
  return path
}

describe('a program that an agent may have put there is never started', () => {
  /** A workspace whose own program comes first on the PATH. */
  function hostile() {
    const [workspace, link] = [tempFolder(), join(tempFolder(), 'link')]
    symlinkSync(workspace, link)
    const bin = join(workspace, 'bin')
    mkdirSync(bin)
    program(join(bin, 'plain'), `touch '${workspace}/started'; echo '{"done":true}'`)
    const env = { PATH: `${bin}:/usr/bin:/bin` }
    return { workspace, link, bin, env, isStarted: () => existsSync(join(workspace, 'started')) }
  }

  it('not by a run, also where the folder is named by a link', async () => {
    const { workspace, link, env, isStarted } = hostile()
    for (const workingDir of [workspace, link]) {
      const start = createCliBackend(plainAgent, { workspace: '/', env }).start(
        { prompt: 'go', workingDir },
        heard().run,
      )
      await expect(start).rejects.toThrow('lies in a folder where agents may write')
    }
    expect(isStarted()).toBe(false)
  })

  it('not to be asked for its version', async () => {
    const { workspace, link, env, isStarted } = hostile()
    for (const folder of [workspace, link]) {
      const options = { workspace: folder, env }
      expect(await createCliBackend(plainAgent, options).inspect!()).toMatchObject({
        ...{ installed: false, version: null },
        problem: expect.stringContaining('call keepup from another folder'),
      })
      const acp = createAcpBackend({ program: 'plain', args: [] }, options)
      expect(await acp.inspect!()).toMatchObject({ installed: false })
    }
    expect(isStarted()).toBe(false)
  })

  it('not by a link in a workspace to another program', async () => {
    const { workspace, env } = hostile()
    const bin = join(workspace, 'links')
    mkdirSync(bin)
    symlinkSync('/bin/echo', join(bin, 'plain'))
    const backend = createCliBackend(plainAgent, { workspace, env: { PATH: `${bin}:${env.PATH}` } })
    await expect(backend.start({ prompt: 'go' }, heard().run)).rejects.toThrow(
      'lies in a folder where agents may write',
    )
  })
})

test('what left the group and the control group, and writes on, does not hold the run', async () => {
  const { backend, folder, options } = plainBackend(() => [], { namespace: false })
  const pid = join(folder, 'pid')
  onTestFinished(() => void process.kill(Number(readFileSync(pid, 'utf8')), 'SIGKILL'))
  const leave = 'for f in /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/unified/cgroup.procs; do echo $$ > $f; done'
  const daemon = program(
    join(folder, 'daemon'),
    `(${leave}) 2>/dev/null; echo $$ > '${pid}'; while :; do echo '{"say":"late"}'; sleep 0.2; done`,
  )
  program(
    options.program!,
    `env -i setsid '${daemon}' &\nwhile [ ! -s '${pid}' ]; do sleep 0.05; done\necho '{"done":true}'`,
  )
  expect(await backend.start({ prompt: 'go' }, heard().run)).toMatchObject({ success: true })
})

describe('the temporary folder of an agent', () => {
  it('of a driver that was killed is removed with what it left running', () => {
    const [data, scratch] = [tempFolder(), tempFolder()]
    writeFileSync(join(scratch, 'session'), 'private')
    mkdirSync(join(data, 'processes'))
    const entry = {
      id: 'x',
      boot: 'another',
      driver: { id: 'd', pid: 1, start: null },
      leader: null,
      cgroup: null,
      scratch,
    }
    writeFileSync(join(data, 'processes', 'x.json'), JSON.stringify(entry))
    reap(data)
    expect(existsSync(scratch)).toBe(false)
  })

  it('is on record while the agent runs', async () => {
    const { folder, options } = plainBackend(() => [])
    const data = tempFolder()
    const seen = join(folder, 'seen.json')
    program(
      options.program!,
      `cat '${data}'/processes/*.json > '${seen}'; echo "$TMPDIR" > '${folder}/tmp'; echo '{"done":true}'`,
    )
    await createCliBackend(plainAgent, { ...options, dataFolder: data, driverId: 'd1' }).start(
      { prompt: 'go' },
      heard().run,
    )
    expect(JSON.parse(readFileSync(seen, 'utf8')).scratch).toBe(readFileSync(join(folder, 'tmp'), 'utf8').trim())
  })

  it('is removed also where the agent made folders in it read-only', () => {
    const scratch = tempFolder()
    const [inner, outside] = [join(scratch, 'cache', 'module'), tempFolder()]
    mkdirSync(inner, { recursive: true })
    writeFileSync(join(inner, 'file'), '')
    symlinkSync(outside, join(scratch, 'cache', 'link'))
    for (const folder of [inner, join(scratch, 'cache'), scratch]) chmodSync(folder, 0o555)
    removeScratch(scratch)
    expect([existsSync(scratch), existsSync(outside)]).toEqual([false, true])
  })
})
