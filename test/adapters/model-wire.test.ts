import { expect, it, onTestFinished } from 'vitest'
import { createModels } from '../../adapters/models/registry.ts'
import type { ModelRequest } from '../../domain/ports/index.ts'
import { request, result } from '../support/models/model-request.ts'
import { loopback, sendJson } from '../support/network/loopback.ts'

const asked: Partial<ModelRequest> = {
  messages: [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } }] },
    result('a', 'A'),
  ],
  toolChoice: 'auto',
}

it.each(['anthropic:claude-sonnet-5-5', 'anthropic:claude-opus-5-5', 'openai:local'])(
  'the wire form of a request to %s is what its provider receives',
  async (model) => {
    const server = await loopback((res) => sendJson(res, 400, { error: { message: 'no' } }))
    onTestFinished(() => server.close())
    const env = {
      ...{ ANTHROPIC_API_KEY: 'k'.repeat(20), ANTHROPIC_BASE_URL: server.url },
      OPENAI_BASE_URL: `${server.url}/v1`,
    }
    const models = createModels({ env })
    const sent = request({ ...asked, model })
    await expect(models.provider(model).call(sent, { signal: AbortSignal.timeout(10_000) })).rejects.toThrow()
    const wire = createModels({ env: { OPENAI_BASE_URL: env.OPENAI_BASE_URL } }).wire(sent)
    expect(server.got).toHaveLength(1)
    expect(wire.body).toEqual(server.got[0]?.body)
    expect(server.got[0]?.headers).toMatchObject(wire.headers)
  },
)
