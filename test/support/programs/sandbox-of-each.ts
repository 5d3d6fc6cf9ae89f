import { writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { createSandbox } from '../../../adapters/sandbox/bubblewrap.ts'
import type { Command, Sandbox } from '../../../domain/ports/index.ts'
import { freshFolders } from '../folders.ts'

export const never = new AbortController().signal

/** A shell command in the workspace. */
export const sh = (script: string, more: Partial<Command> = {}): Command => ({
  argv: ['/bin/sh', '-c', script],
  cwd: '.',
  timeoutMs: 100_000,
  network: false,
  ...more,
})

/** A folder that the sandbox empties for its commands, but for the workspace. */
const EMPTIED = '/tmp'

/** A separate sandbox per test around new folders: a workspace, and next to it a data folder with a token and a key. */
export function sandboxOfEach() {
  const own = {
    folders: undefined as unknown as ReturnType<typeof freshFolders>,
    sandbox: undefined as unknown as Sandbox,
    run: (script: string, more?: Partial<Command>) => own.sandbox.exec(sh(script, more), never),
  }
  beforeEach(async () => {
    const folders = freshFolders(EMPTIED)
    own.folders = folders
    writeFileSync(join(folders.data, 'token'), 'the-token')
    writeFileSync(join(folders.base, 'key'), 'the-key')
    const env = { PATH: process.env.PATH, HOME: homedir(), ANTHROPIC_API_KEY: 'sk-hidden', MY_SECRET: 'hidden' }
    own.sandbox = await createSandbox({
      workspace: folders.ws,
      hide: [folders.data, join(folders.base, 'key'), '/none'],
      env,
      graceMs: 200,
    })
  })
  afterEach(() => own.folders.remove())
  return own
}
