import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type KeepUpOptions, openKeepUp } from '../../../api/index.ts'
import { unsalted } from '../../../domain/log/seal.ts'
import { OWN } from '../../support/external/own-agent.ts'
import { openFolder } from '../../support/programs/bubblewrap.ts'

// Other agents run confined unless the caller or the settings say otherwise (api/docs/threat-model.md).

/** Folders that lie where a confined program can see files, and an agent whose program is a shell script. */
async function place(script: (at: Readonly<Record<'data' | 'other' | 'home' | 'work', string>>) => string) {
  const root = openFolder()
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const at = {
    data: join(root, 'a/data'),
    other: join(root, 'b/data'),
    home: join(root, 'home'),
    work: join(root, 'c/work'),
  }
  const bin = join(root, 'bin')
  for (const path of [...Object.values(at), bin, join(at.home, '.own')])
    mkdirSync(path, { recursive: true, mode: 0o700 })
  writeFileSync(join(at.home, 'private'), 'private')
  writeFileSync(join(bin, 'plain'), `#!/bin/sh\n${script(at)}\necho '{"done":true}'\n`)
  chmodSync(join(bin, 'plain'), 0o755)
  vi.stubEnv('PATH', bin + delimiter + process.env.PATH)
  vi.stubEnv('HOME', at.home)
  vi.stubEnv('XDG_CONFIG_HOME', join(root, 'config'))
  onTestFinished(() => void vi.unstubAllEnvs())
  const agent = { ...OWN, keeps: { folders: ['.own'] } }
  // Another data folder of the same user, which was opened once.
  await (await openKeepUp({ data: at.other })).close()
  const opened = async (options: Partial<KeepUpOptions> = {}) => {
    const keepup = await openKeepUp({ data: at.data, agents: [agent], ...options })
    onTestFinished(() => keepup.close())
    return keepup
  }
  const run = async (keepup: Awaited<ReturnType<typeof opened>>) => {
    const handle = await keepup.runAgent('own', { prompt: 'go', workingDir: at.work })
    await handle.completion
    const starts: unknown[] = []
    for await (const page of keepup.services.log.readAll(null))
      for (const { header, body } of page)
        if (header.type === 'process_start') starts.push(JSON.parse(Buffer.from(unsalted(body!)).toString()))
    return starts
  }
  return { ...at, opened, run, config: join(root, 'config') }
}

const LOOK = (at: Readonly<Record<'data' | 'other' | 'home' | 'work', string>>) =>
  [
    `{ cat '${at.data}/token' '${at.other}/token' "$HOME/private" "$HOME"/../config/keepup/*; } > seen 2>/dev/null`,
    `echo x > "$HOME/.own/session"; echo x > "$HOME/written"; echo x > '${at.data}/forged'`,
  ].join('\n')

test('an agent sees neither data folder, token, key nor home; its own folder and the workspace are kept', {
  tags: ['bubblewrap'],
}, async () => {
  const at = await place(LOOK)
  const starts = await at.run(await at.opened())
  expect(readFileSync(join(at.work, 'seen'), 'utf8')).toBe('')
  expect(existsSync(join(at.home, '.own/session'))).toBe(true)
  expect([existsSync(join(at.home, 'written')), existsSync(join(at.data, 'forged'))]).toEqual([false, false])
  expect(starts).toMatchObject([{ confinement: { confined: true } }])
})

test('a confined agent makes no set-user-ID file, and has the filter of system calls that commands have', {
  tags: ['bubblewrap'],
}, async () => {
  const at = await place(() => 'cp /bin/cat f; chmod 6755 f; grep Seccomp: /proc/self/status > seen')
  await at.run(await at.opened())
  expect(statSync(join(at.work, 'f')).mode & 0o7000).toBe(0)
  expect(readFileSync(join(at.work, 'seen'), 'utf8')).toBe('Seccomp:\t2\n')
})

test('an agent that runs unconfined is recorded with the reason', { tags: ['git'] }, async () => {
  const at = await place(LOOK)
  const starts = await at.run(await at.opened({ sandboxed: false }))
  const tokens = [at.data, at.other].map((data) => readFileSync(join(data, 'token'), 'utf8'))
  expect(readFileSync(join(at.work, 'seen'), 'utf8')).toContain(`${tokens.join('')}private`)
  expect(starts).toMatchObject([{ confinement: { confined: false, reason: 'the setting "sandboxed" is false' } }])
})
