import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { RequestError } from '@agentclientprotocol/sdk'
import { expect, test } from 'vitest'
import { registryEntry } from '../../../.ci/acp-registry.ts'
import { AUTH_METHODS, authenticate } from '../../../api/cli/acp/authentication.ts'
import type { Context } from '../../../api/cli/context.ts'
import { tempFolder } from '../../support/folders.ts'

// What the registry of ACP agents checks before it takes an entry.

const root = join(import.meta.dirname, '../../..')
const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

test('the entry names this version of the package and the command that starts the agent', () => {
  const { id, version, distribution, ...rest } = registryEntry(own)
  expect(id).toMatch(/^[a-z][a-z0-9-]*$/)
  expect(version).toMatch(/^\d+\.\d+\.\d+$/)
  expect(distribution).toEqual({ npx: { package: `${own.name}@${version}`, cmd: 'keepup', args: ['acp'] } })
  expect(rest).toMatchObject({ name: 'keepup', description: own.description, license: 'Apache-2.0' })
  const more = { repository: { url: 'git+https://example.com/keepup.git' }, homepage: 'https://example.com' }
  expect(registryEntry({ ...own, ...more })).toMatchObject({
    repository: 'https://example.com/keepup',
    website: 'https://example.com',
  })
})

test('the icon has 16 × 16 pixels and the colour of its surroundings', () => {
  const icon = readFileSync(join(root, 'api/cli/acp/registry/icon.svg'), 'utf8')
  expect(icon).toMatch(/^<svg [^>]*width="16" height="16" viewBox="0 0 16 16"/)
  const colours = [...icon.matchAll(/(?:fill|stroke)="([^"]*)"/g)].map(([, colour]) => colour)
  expect(new Set(colours)).toEqual(new Set(['none', 'currentColor']))
})

test('authentication succeeds when the model of the runs can be used, and names the missing key otherwise', () => {
  const context = (env: object, settings: object = {}) =>
    ({ io: { env }, config: { model: null, models: [], routing: null, data: root, ...settings } }) as unknown as Context
  const { id } = AUTH_METHODS[0]!
  const ask = (env: object, { settings = {}, model }: { settings?: object; model?: string } = {}) =>
    authenticate(context(env, settings), id, model)
  const anthropic = { ANTHROPIC_API_KEY: 'sk-ant-a-long-key-of-a-provider-0123456789' }
  const script = join(tempFolder(), 'script.json')
  writeFileSync(script, JSON.stringify({ script: 1, turns: [{ text: 'hello' }] }))
  expect(() => ask(anthropic)).not.toThrow()
  expect(() => ask({}, { settings: { model: `scripted:${script}` } })).not.toThrow()
  expect(() => ask({}, { model: `scripted:${script}` })).not.toThrow()
  expect(() => ask({ OPENAI_BASE_URL: 'http://localhost:8080/v1' }, { model: 'gpt-5' })).not.toThrow()
  expect(() => ask({ ANTHROPIC_AUTH_TOKEN: 'short' })).not.toThrow()
  const required = (message: RegExp) =>
    expect.objectContaining({ code: -32000, message: expect.stringMatching(message) })
  expect(() => ask(anthropic, { model: 'gpt-5' })).toThrow(required(/set OPENAI_API_KEY/))
  expect(() => ask(anthropic, { settings: { routing: { models: ['gpt-5'] } } })).toThrow(required(/set OPENAI_API_KEY/))
  expect(() => ask({}, { model: 'claude-sonnet-5-5' })).toThrow(required(/set ANTHROPIC_API_KEY/))
  expect(() => ask(anthropic, { model: 'nobody-knows-it' })).toThrow(/is not known/)
  expect(() => authenticate(context(anthropic), 'password', undefined)).toThrow(RequestError)
})
