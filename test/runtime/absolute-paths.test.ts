// @module-tag git
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openWorkspace } from '../../adapters/workspace/open.ts'
import { freshFolders } from '../support/folders.ts'
import { call, calls, completes, harness, testSpec } from '../support/harness.ts'
import { NO_SECRETS } from '../support/secrets/no-secrets.ts'
import { tool } from '../support/story.ts'

test('calls whose absolute and relative paths lead to one file run one after the other; one that leads out is refused', async () => {
  const folders = freshFolders()
  try {
    const workspace = await openWorkspace(folders.ws, { dataFolder: folders.data })
    const environment = async () => ({
      ...{ workspace, sandbox: null, secrets: NO_SECRETS },
      reap: async () => undefined,
      close: async () => undefined,
    })
    const spec = { parameters: { type: 'object' }, paths: { path: 'write' as const }, timeLimitMs: 10_000 }
    let atOnce = 0
    let most = 0
    const put = tool('put', spec, async () => {
      most = Math.max(most, ++atOnce)
      await new Promise<void>((resolve) => setImmediate(resolve))
      atOnce--
    })
    const paths = ['a.txt', join(folders.ws, 'a.txt'), join(folders.base, 'elsewhere.txt')]
    const asked = calls(...paths.map((path, n) => call('put', { path }, `c${n}`)))
    const run = harness((_, n) => (n === 1 ? asked : completes()), { tools: [put], ports: { environment } })
    const runId = await run.start(testSpec({ policy: { mode: 'batch' } }, [put]))
    expect(await run.drive(runId)).toEqual({ end: 'done' })
    const events = await run.events(runId)
    const answer = events.find((event) => event.type === 'model_call_end')
    expect(answer?.body.calls.map(({ writes }) => writes)).toEqual([['a.txt'], ['a.txt'], []])
    const ends = events.flatMap((event) => (event.type === 'tool_call_end' ? [event.body.error?.code ?? 'ok'] : []))
    expect(ends.slice(0, 3).sort()).toEqual(['SANDBOX_VIOLATION', 'ok', 'ok'])
    expect(most).toBe(1)
  } finally {
    folders.remove()
  }
})
