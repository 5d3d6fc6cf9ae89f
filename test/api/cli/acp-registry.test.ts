import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { RequestError } from '@agentclientprotocol/sdk'
import { expect, test } from 'vitest'
import { registryEntry } from '../../../.ci/acp-registry.ts'
import { AUTH_METHODS, authenticate } from '../../../api/cli/acp/authentication.ts'
import type { Context } from '../../../api/cli/context.ts'

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

test('a model key in the environment or a scripted model authenticates, and nothing else does', () => {
  const context = (env: object, model: string | null = null) =>
    ({ io: { env }, config: { model } }) as unknown as Context
  const { id } = AUTH_METHODS[0]!
  const key = { ANTHROPIC_API_KEY: 'sk-ant-a-long-key-of-a-provider-0123456789' }
  expect(() => authenticate(context(key), id, undefined)).not.toThrow()
  expect(() => authenticate(context({}, 'scripted:x.json'), id, undefined)).not.toThrow()
  expect(() => authenticate(context({}), id, 'scripted:x.json')).not.toThrow()
  expect(() => authenticate(context({}), id, 'claude-sonnet-5-5')).toThrow(/none is set; set one of ANTHROPIC_API_KEY/)
  expect(() => authenticate(context(key), 'password', undefined)).toThrow(RequestError)
})
