import { cpSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { afterAll, expect, it } from 'vitest'
import { openKeepUp } from '../../../api/library/open-keepup.ts'
import { sha256 } from '../../../domain/log/ids.ts'
import { openCheckpoint } from '../../../domain/log/proof/checkpoint.ts'
import { parseVkey } from '../../../domain/log/proof/note.ts'
import { bodyOf, openWorld } from '../support/http.ts'

// One keepup is the witness of another one.

const witness = await openWorld()
const server = createServer(getRequestListener((request) => witness.http.fetch(request))).listen(0, '127.0.0.1')
await new Promise((resolve) => server.once('listening', resolve))
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/witness`
afterAll(async () => {
  server.close()
  await witness.close()
})

const copy = (from: string, to: string) => {
  rmSync(to, { recursive: true, force: true })
  cpSync(from, to, { recursive: true, filter: (path) => !path.endsWith('.sock') })
}

it('a keepup anchors its heads with another keepup, which refuses the log after its end was cut', async () => {
  const data = join(witness.root, 'other')
  const write = async (values: readonly string[]) => {
    await using keepup = await openKeepUp({ data, by: 'ann' })
    for (const value of values) await keepup.contextStore('review').set('goal', value)
    const { anchors } = await keepup.anchorNow({})
    return { anchors, head: await keepup.getProofHead() }
  }
  const { vkey } = (await write(['one'])).head
  const { ask } = witness
  const added = await bodyOf<{ origin: string; vkey: string }>(
    await ask('POST', '/v1/witness/logs', { body: { vkey, by: 'bob' } }),
  )
  {
    await using keepup = await openKeepUp({ data, by: 'ann' })
    await keepup.addAnchor({ anchor: 'bob', kind: 'witness', target: url, vkey: added.vkey })
  }
  expect((await write(['two'])).anchors).toMatchObject([{ anchor: 'bob', ok: true }])
  copy(data, `${data}-before`)
  const { anchors, head } = await write(['three', 'four'])
  expect(anchors).toMatchObject([{ ok: true }])

  const held = await fetch(`${url}/${sha256(head.origin)}/checkpoint`)
  const opened = openCheckpoint(await held.text(), [parseVkey(vkey!)], [parseVkey(added.vkey)])
  expect([opened.size, opened.signatures.length]).toEqual([anchors[0]!.size, 2])
  const listed = await bodyOf(await ask('GET', '/v1/witness/logs'))
  expect(listed).toMatchObject({ vkey: added.vkey, logs: [{ origin: head.origin, size: opened.size }] })

  copy(`${data}-before`, data)
  const cut = await write(['other', 'words', 'that', 'are', 'longer'])
  expect(cut.anchors).toMatchObject([
    { ok: false, message: expect.stringMatching(/refuses the head: 422 |another size/) },
  ])
  expect((await bodyOf(await ask('GET', '/v1/witness/logs'))).logs).toMatchObject([{ size: opened.size }])
  expect((await ask('GET', '/v1/streams/proof-witness/verify')).status).toBe(200)
})

it('only the requests of logs need no token, and their bodies are bounded', async () => {
  const status = async (method: string, path: string, body?: string) =>
    (await fetch(`${url}${path}`, { method, ...(body !== undefined && { body }) })).status
  expect(await status('POST', '/add-checkpoint', 'x')).toBe(400)
  expect(await status('POST', '/add-checkpoint')).toBe(400)
  expect(await status('POST', '/add-checkpoint', 'x'.repeat(65_000))).toBe(400)
  expect(await status('POST', '/add-checkpoint', 'x'.repeat(66_000))).toBe(413)
  expect(await status('GET', `/${'0'.repeat(64)}/checkpoint`)).toBe(404)
  for (const [method, path] of [
    ['GET', '/logs'],
    ['POST', '/logs'],
    ['POST', '/key'],
    ['GET', '/add-checkpoint'],
    ['GET', '/x/checkpoint'],
    ['POST', `/${'0'.repeat(64)}/checkpoint`],
  ] as const)
    expect([path, await status(method, path)]).toEqual([path, 401])
})
