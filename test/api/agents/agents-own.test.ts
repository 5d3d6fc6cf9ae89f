import { chmodSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openKeepUp } from '../../../api/index.ts'
import { OWN, OWN_SAMPLE } from '../../support/external/own-agent.ts'
import { tempFolder } from '../../support/folders.ts'

// A backend of the user's own is one object (api/docs/agents.md).

test('the object of a program is run and recorded as those of keepup are', { tags: ['git'] }, async () => {
  const bin = tempFolder()
  const script = `#!/bin/sh\n[ "$1" = --version ] && echo 1.2.3 && exit\necho '${OWN_SAMPLE.lines.join('\n')}'\n`
  writeFileSync(join(bin, 'plain'), script)
  chmodSync(join(bin, 'plain'), 0o755)
  vi.stubEnv('PATH', bin + delimiter + process.env.PATH)
  onTestFinished(() => void vi.unstubAllEnvs())
  const keepup = await openKeepUp({ data: tempFolder(), agents: [OWN] })
  onTestFinished(() => keepup.close())
  const run = await keepup.runAgent('own', { prompt: 'go', workingDir: tempFolder() })
  expect(await run.completion).toEqual({
    status: { code: 0, signal: null },
    success: true,
    finalText: 'all is well',
  })
  expect(await keepup.run(run.agentId)).toMatchObject({ status: 'completed', backend: 'own', ungoverned: true })
})

test.each([
  ['a kind that is there already', { kind: 'codex' }, /codex is registered already/],
  ['a kind that is none', { kind: 'My Agent' }, /the kind of an agent is a lower-case letter/],
  [
    'a capability of another one',
    { capabilities: ['backend.codex.sandbox'] },
    /own advertises "backend.codex.sandbox"/,
  ],
])('%s is refused when keepup is opened, not by each run', async (_, wrong, message) => {
  const opening = openKeepUp({ data: tempFolder(), agents: [{ ...OWN, ...wrong }] })
  opening.then((keepup) => keepup.close()).catch(() => undefined)
  await expect(opening).rejects.toThrow(message)
})
