import { expect, test } from 'vitest'
import { openaiProvider } from '../../adapters/models/openai/provider.ts'
import { headersOf } from '../../adapters/models/openai/send.ts'
import { bench } from '../support/models/model-bench.ts'
import { ask } from '../support/models/model-request.ts'
import { delta, finish, streamChunks } from '../support/models/openai-wire.ts'

const env: Record<string, string> = {}
const read = (name: string) => env[name] ?? null
const at = bench((url) => openaiProvider({ apiKey: 'sk-0123456789', baseUrl: `${url}/v1/`, headers: headersOf(read) }))
const asked = async () => {
  await ask(await at.serve((res) => streamChunks(res, [delta({ content: 'Yes.' }), finish('stop')])))
  return at.server.got[0]!
}

test('a request goes to the path below a base URL that ends in a slash, as JSON', async () => {
  const { path, headers } = await asked()
  expect(path).toBe('/v1/chat/completions')
  expect(headers).toMatchObject({ 'content-type': 'application/json', accept: 'application/json' })
  expect(Object.keys(headers).filter((name) => name.startsWith('openai-'))).toEqual([])
})

test('organization, project and headers of the environment are sent, and replace headers of the same name', async () => {
  Object.assign(env, {
    OPENAI_ORG_ID: 'org-1',
    OPENAI_PROJECT_ID: 'proj-1',
    OPENAI_CUSTOM_HEADERS: 'X-Team: blue: green\nno header\nAuthorization: Bearer other',
  })
  expect((await asked()).headers).toMatchObject({
    'openai-organization': 'org-1',
    'openai-project': 'proj-1',
    'x-team': 'blue: green',
    authorization: 'Bearer other',
  })
})

test.each(['bad name: v', 'x: wörld→'])('a line that is no header is refused without its value: %s', (line) => {
  const make = () => headersOf((name) => (name === 'OPENAI_CUSTOM_HEADERS' ? `a: b\n${line}` : null))
  expect(make).toThrow('line 2 of OPENAI_CUSTOM_HEADERS is no HTTP header; write it as "Name: value"')
})
