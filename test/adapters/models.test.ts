import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { catalogInfo, catalogue, ModelEntry } from '../../adapters/models/catalog.ts'
import { bindsThinking } from '../../adapters/models/claude.ts'
import { toModelError } from '../../adapters/models/failures.ts'
import { createModels } from '../../adapters/models/registry.ts'
import { cost } from '../../domain/tree/money.ts'
import { ModelInfo } from '../../domain/tree/spec.ts'
import { tempFolder } from '../support/folders.ts'
import { start, stop, streamEvents, textBlock } from '../support/models/anthropic-wire.ts'
import { never, request } from '../support/models/model-request.ts'
import { delta, finish, streamChunks } from '../support/models/openai-wire.ts'
import { type Loopback, loopback } from '../support/network/loopback.ts'

let server: Loopback | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

describe('the catalogue', () => {
  test('is valid, without doubles, and every entry has a dated price', () => {
    const all = catalogue()
    expect(new Set(all.map((m) => m.id)).size).toBe(all.length)
    for (const model of all) {
      expect(ModelInfo.parse(model)).toEqual(model)
      expect(model.price?.asOf).toMatch(/^\d{4}-\d{2}-\d{2}$/)
      const { input, output, cacheRead, cacheWrite } = model.price!
      expect(cacheRead <= input && input <= cacheWrite && input < output).toBe(true)
      // Between a cent and a hundred dollars a million: a slip of a thousand would show.
      expect(input).toBeGreaterThanOrEqual(100_000_000)
      expect(output).toBeLessThanOrEqual(100_000_000_000)
    }
  })

  test('prices Sonnet 4.6 at 3 dollars in, 15 out, 0.30 read and 3.75 written', () => {
    const { price } = catalogInfo('claude-sonnet-4-6')
    const million = { input: 1_000_000, output: 1_000_000, cacheRead: 1_000_000, cacheWrite: 1_000_000 }
    expect(cost(million, price!)).toBe(22_050_000_000)
  })

  test('knows a model by its dated name, and with its provider in front', () => {
    expect(catalogInfo('claude-haiku-4-5-20251001')).toEqual({
      ...catalogInfo('claude-haiku-4-5'),
      id: 'claude-haiku-4-5-20251001',
    })
    expect(catalogInfo('gpt-5.4-2026-03-05').price).toEqual(catalogInfo('gpt-5.4').price)
    expect(catalogInfo('anthropic:claude-opus-5-5')).toMatchObject({
      id: 'anthropic:claude-opus-5-5',
      provider: 'anthropic',
    })
  })

  test('gives an unknown model no price and modest limits', () => {
    expect(catalogInfo('openai:qwen')).toEqual({
      id: 'openai:qwen',
      provider: 'openai',
      contextTokens: 128_000,
      maxOutputTokens: 8_192,
      timeoutMs: 600_000,
      price: null,
      forcesCalls: false,
    })
    expect(catalogInfo('claude-opus-9')).toMatchObject({ provider: 'anthropic', price: null, forcesCalls: false })
  })

  test.each([
    ['claude-opus-5-5', true],
    ['claude-opus-5-5-20260922', true],
    ['claude-fable-5-1', true],
    ['claude-mythos-5-2', true],
    ['claude-sonnet-6', true],
    ['claude-fable-5', false],
    ['claude-opus-5', false],
    ['claude-opus-4-8', false],
    ['claude-haiku-4-5-20251001', false],
    ['claude-3-haiku-20240307', false],
    ['claude-opus-4-20250514', false],
    ['gpt-5.5', false],
  ])('%s refuses a forced call: %s', (id, refuses) => {
    expect(bindsThinking(id)).toBe(refuses)
    if (id.startsWith('claude-')) expect(catalogInfo(id).forcesCalls).toBe(!refuses)
  })

  test("takes a user's entry, prices in dollars", () => {
    const entry = ModelEntry.parse({
      id: 'm',
      provider: 'openai',
      contextTokens: 9,
      price: { asOf: 'now', input: '0.15', output: 0.6 },
    })
    expect(catalogInfo('m', entry)).toMatchObject({
      contextTokens: 9,
      price: { asOf: 'now', input: 150_000_000, output: 600_000_000, cacheRead: 150_000_000, cacheWrite: 150_000_000 },
    })
  })
})

describe('which provider serves a model', () => {
  const env = { ANTHROPIC_API_KEY: 'sk-ant-1', OPENAI_API_KEY: ' sk-2-4711\n' }
  const scripts = { demo: { script: 1 as const, turns: [{ text: 'hi' }] } }

  test.each([
    ['anthropic:anything', 'anthropic'],
    ['claude-sonnet-4-6', 'anthropic'],
    ['openai:llama3', 'openai'],
    ['gpt-5.5', 'openai'],
    ['scripted:demo', 'scripted'],
    ['mine', 'openai'],
  ])('%s: %s', (id, provider) => {
    const models = createModels({ env, scripts, models: [{ id: 'mine', provider: 'openai' }] })
    expect(models.provider(id).id).toBe(provider)
    expect(models.info(id)).toMatchObject({ id, provider })
  })

  test.each<[string, Parameters<typeof createModels>[0], string, RegExp]>([
    ['llama3', { env }, 'NOT_FOUND', /"llama3" is not known; write anthropic:<name>, openai:<name> or scripted:<file>/],
    ['claude-opus-5-5', { env: {} }, 'AUTHENTICATION', /set ANTHROPIC_API_KEY/],
    ['gpt-5.5', { env: { OPENAI_API_KEY: ' ' } }, 'AUTHENTICATION', /set OPENAI_API_KEY, or OPENAI_BASE_URL/],
    ['scripted:none.json', { env }, 'SCRIPT_INVALID', /none\.json cannot be read/],
    [
      'scripted:toString',
      { env, scripts },
      'SCRIPT_INVALID',
      /toString cannot be read .* or one of the names in "scripts": demo$/,
    ],
    ['scripted:x', { env, scripts: { x: { script: 2 } as never } }, 'SCRIPT_INVALID', /script x is not valid/],
    [
      'gpt-5.5',
      { env: { ...env, OPENAI_BASE_URL: 'http://u:hunter2@h' } },
      'INVALID_REQUEST',
      /OPENAI_BASE_URL must be/,
    ],
    ['gpt-5.5', { env: { ...env, OPENAI_BASE_URL: 'localhost:1' } }, 'INVALID_REQUEST', /OPENAI_BASE_URL must be/],
    [
      'claude-opus-5-5',
      { env: { ANTHROPIC_API_KEY: 'hunter2 hunter2' } },
      'INVALID_REQUEST',
      /ANTHROPIC_API_KEY holds white space/,
    ],
  ])('%s in %j: %s', (id, options, code, message) => {
    const attempt = () => createModels(options).provider(id)
    expect(attempt).toThrow(message)
    expect(attempt).toThrow(expect.objectContaining({ code, message: expect.not.stringContaining('hunter2') }))
  })

  test('a bad entry of a user is named', () => {
    const attempt = () =>
      createModels({ env, models: [{ id: 'a' }, { id: 'b', price: { asOf: 'x', input: 'much', output: 1 } }] })
    expect(attempt).toThrow(/models\.1\.price\.input: dollars per million/)
  })

  test('a known model is corrected by the user, and listed once', () => {
    const models = createModels({ env, models: [{ id: 'gpt-5.5', contextTokens: 5 }] })
    expect(models.info('gpt-5.5')).toMatchObject({ contextTokens: 5, price: catalogInfo('gpt-5.5').price })
    expect(models.known().filter((m) => m.id === 'gpt-5.5')).toHaveLength(1)
  })

  test('the keys are known for redaction, blank ones not', () => {
    const models = createModels({ env: { ...env, ANTHROPIC_AUTH_TOKEN: '' } })
    expect(models.knownSecrets()).toEqual(['sk-ant-1', 'sk-2-4711'])
    expect(models.unhidableKeys()).toEqual([])
  })

  test('a key that is too short to be hidden is named, and blots nothing out', () => {
    const models = createModels({ env: { ANTHROPIC_API_KEY: 'sk-ant-1', OPENAI_API_KEY: 'x' } })
    expect([models.knownSecrets(), models.unhidableKeys()]).toEqual([['sk-ant-1'], ['OPENAI_API_KEY']])
    expect(toModelError('openai', new Error('an axe to fix'), ['x']).message).toBe('openai: an axe to fix')
  })

  test.each(['none', 'test', 'sk-1234', 'placeholder', 'not-needed'])(
    '%s in the place of a key hides no word',
    (value) => {
      const models = createModels({ env: { OPENAI_API_KEY: value } })
      expect([models.knownSecrets(), models.unhidableKeys()]).toEqual([[], ['OPENAI_API_KEY']])
    },
  )

  test('each provider of the program has a limit of its own', () => {
    const provider = createModels({ env, scripts: { s: { script: 1, turns: [{ text: 'x' }] } } }).provider('scripted:s')
    const models = createModels({ env, providers: { a: provider, b: provider } })
    expect(models.limit('own:a').key).not.toBe(models.limit('own:b').key)
    expect(['own:a', 'own:c', 'gpt-5.5'].map((id) => models.has(id))).toEqual([true, false, true])
  })

  test('a script is read again after its file changed, and stays loaded when the file is gone', async () => {
    const path = join(tempFolder(), 'script.json')
    const models = createModels({ env })
    const write = (text: string) => writeFileSync(path, JSON.stringify({ script: 1, turns: [{ text }] }))
    const said = async () => {
      const { content } = await models.provider(`scripted:${path}`).call(request({}), { signal: never() })
      return JSON.stringify(content)
    }
    write('one')
    expect(await said()).toContain('one')
    write('another')
    expect(await said()).toContain('another')
    rmSync(path)
    expect(await said()).toContain('another')
  })

  test('the prefix is not sent, and the base URL of the environment is used', async () => {
    server = await loopback((res, { path }) =>
      path.includes('chat')
        ? streamChunks(res, [delta({ content: 'x' }), finish('stop')])
        : streamEvents(res, [start(), ...textBlock(0, 'x'), ...stop('end_turn')]),
    )
    const models = createModels({
      env: { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: server.url, OPENAI_BASE_URL: `${server.url}/v1` },
    })
    for (const model of ['anthropic:claude-x', 'openai:llama3:8b']) {
      await models.provider(model).call(request({ model }), { signal: never() })
    }
    expect(server.got.map((g) => g.body.model)).toEqual(['claude-x', 'llama3:8b'])
    expect(server.got[1]!.headers.authorization).toBeUndefined()
  })
})
