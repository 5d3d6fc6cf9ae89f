import { afterAll, expect, it } from 'vitest'
import { bodyOf, openWorld } from '../support/http.ts'

const world = await openWorld()
afterAll(() => world.close())

it.each(['', 'x', '00-0-0-0'])(
  'a malformed traceparent "%s" is ignored by every route that records',
  async (traceparent) => {
    const { ask, model, services } = world
    const headers = { traceparent }
    const run = await ask('POST', '/v1/runs', { body: { task: 'finish', model, drive: false }, headers })
    expect(run.status).toBe(201)
    const { runId } = await bodyOf<{ runId: string }>(run)
    const made = await ask('POST', '/v1/documents', {
      body: { title: 'A', format: 'markdown', content: '# A' },
      headers,
    })
    expect([made.status, await made.clone().text()]).toEqual([201, expect.any(String)])
    const { documentId } = await bodyOf<{ documentId: string }>(made)
    for (const stream of [`agent-${runId}`, `document-${documentId}`])
      for await (const page of services.log.read(stream))
        for (const { header } of page) expect(header.trace).toBeUndefined()
  },
)
