import { cpSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { cliFolder, type Running } from '../api/support/cli.ts'
import { FAULT_TIMEOUT_MS } from '../support/faults/seed.ts'

vi.setConfig({ testTimeout: FAULT_TIMEOUT_MS, hookTimeout: FAULT_TIMEOUT_MS })

// A backup is put back over the data folder of a `serve` that drives a run.

function asking(data: string, serve: Running) {
  const [, url] = / on (http:[^,\s]+)/.exec(serve.err())!
  const headers = {
    authorization: `Bearer ${readFileSync(join(data, 'token'), 'utf8').trim()}`,
    'content-type': 'application/json',
  }
  return async (path: string, body?: object) => {
    const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
    const answer = await fetch(`${url}${path}`, init)
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }
}

test.each(['moved', 'overwritten'] as const)('its log was %s: it records nothing, says why, and ends', async (how) => {
  const folder = cliFolder()
  onTestFinished(() => folder.clean())
  const log = join(folder.data, 'log')
  const serve = folder.start(['serve', '--port', '0'])
  await serve.said('ask it:')
  const ask = asking(folder.data, serve)
  const done = async () => {
    const { body } = await ask('/v1/runs', { task: 'finish' })
    const status = async () => ((await ask(`/v1/runs/${body.runId}`)).body.run as { status?: string })?.status
    await expect.poll(status, { timeout: 60_000 }).toBe('completed')
  }
  await done()
  const backup = join(folder.root, `backup-${how}`)
  expect(await folder.look('backup', backup)).toMatchObject({ code: 0 })
  await done()
  const older = readFileSync(join(backup, 'log', 'log.db'))
  if (how === 'moved') {
    renameSync(log, `${log}.away`)
    cpSync(join(backup, 'log'), log, { recursive: true })
  } else {
    for (const end of ['-wal', '-shm']) rmSync(join(log, `log.db${end}`))
    writeFileSync(join(log, 'log.db'), older)
  }
  const aside = how === 'moved' ? statSync(join(`${log}.away`, 'log.db-wal')).size : 0

  const refused = await ask('/v1/runs', { task: 'finish' })
  expect(refused).toMatchObject({ status: 500, body: { code: 'LOG_REPLACED' } })
  expect(await ask('/v1/ready')).toMatchObject({ status: 503, body: { ready: false, log: 'replaced' } })
  const { code, err } = await serve.ended
  expect(code, err).toBe(6)
  expect(err).toMatch(/log\.db was moved, replaced or overwritten .*start this process again/)
  expect(readFileSync(join(log, 'log.db')).equals(older)).toBe(true)
  if (how === 'moved') expect(statSync(join(`${log}.away`, 'log.db-wal')).size).toBe(aside)

  // The mark or the tables have seen the second run.
  const next = await folder.look('run', 'finish', '--no-workspace')
  expect(next).toMatchObject({ code: 1, err: expect.stringContaining('LOG_SHORTENED') })
})
