import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { processes } from '../../adapters/sandbox/process-table.ts'
import { MARKER } from '../../adapters/sandbox/registry.ts'
import { fake, opened } from '../support/mcp/servers.ts'

test.each<[string, RegExp]>([
  ['crash', /cannot be reached: it exited with 1; its last words: missing API key/],
  ['line', /cannot be reached: it was ended: it sent a message of more than 8388608 bytes/],
  ['stray', /cannot be reached: it was ended: it sent more than 1000 lines that are no messages/],
  ['deep', /cannot be reached: it was ended: the server sent JSON that is nested deeper than 128 levels/],
  ['wide', /cannot be reached: it was ended: the server sent a message of more than 100000 JSON values/],
  ['pages', /cannot be reached: .*tools\/list/],
  ['silent', /cannot be reached: /],
])('a server that is bad at %s has no tools, and a warning says why', async (mode, why) => {
  const { tools, warnings, tool } = await opened({
    bad: fake(mode, mode === 'silent' ? { connectMs: 1_000 } : {}),
    good: fake(),
  })
  expect(warnings).toEqual([expect.stringMatching(why)])
  expect(tools().some(({ spec }) => spec.name.startsWith('bad:'))).toBe(false)
  expect(tool('good:echo')).toBeDefined()
})

test.each(['old', 'chatty'])('a server that is %s is got on with', async (mode) => {
  const { call, warnings } = await opened({ odd: fake(mode) })
  expect(warnings).toEqual([])
  expect((await call('odd:echo', { words: 'hi' })).content).toBe('you said hi')
})

test('schemas cost bounded time: references are followed within bounds, patterns are told and not run', async () => {
  const { warnings, tool, tools } = await opened({ s: fake('schemas') })
  expect(tools().map(({ spec }) => spec.name)).toEqual([
    's:good',
    's:tree',
    's:dialect',
    's:dots_and_slashes',
    's:wordy',
  ])
  const about = (name: string) => warnings.find((text) => text.includes(name))
  expect(about('doubling')).toContain('more than 2000 parts')
  expect(about('nested')).toContain('nested deeper than 24 levels')
  expect(about('wide')).toContain('more than 2000 parts')
  expect(about('array')).toContain('tool "array" of MCP server "s"')
  expect(about('dots/and')).toContain('another one is called s:dots_and_slashes too')
  expect(about('xxxx')).toContain('at most 64 characters')
  expect(about('ünïcode')).toContain('models take letters')
  expect(tool('s:good').spec.parameters).toEqual({
    type: 'object',
    properties: { a: { type: 'string', description: 'A word; must match /^(a+)+$/' } },
  })
  expect(tool('s:wordy').spec.description).toHaveLength(4_000)
  const tree = z.fromJSONSchema(tool('s:tree').spec.parameters as never)
  expect(tree.safeParse({ root: { left: { left: 7 }, name: 'x' } }).success).toBe(true)
  // A reference into itself takes anything: the server checks its arguments itself.
  expect(tree.safeParse({ root: { left: 7 } }).success).toBe(true)
  expect(tree.safeParse({ root: { left: {}, name: 7 } }).success).toBe(false)
  const pattern = z.fromJSONSchema(tool('s:good').spec.parameters as never)
  expect(pattern.safeParse({ a: `${'a'.repeat(60)}!` }).success).toBe(true)
})

test('a server of 400 tools gives 256 of them, and a warning tells it', async () => {
  const { warnings, tools } = await opened({ many: fake('many') })
  expect(tools()).toHaveLength(256)
  expect(warnings).toEqual(['MCP server "many" offers more than 256 tools; the rest is left out'])
})

describe('the end', () => {
  /** Processes that bear the marker of a server, zombies aside. */
  const marked = (test: string) =>
    processes().filter(({ pid, environment }) => {
      const state = () => readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\) /s, '')[0]
      return environment().includes(`${MARKER}=`) && environment().includes(`FAKE_TEST=${test}`) && state() !== 'Z'
    })

  test.each(['normal', 'stubborn'])('of a %s server leaves no process of it', async (mode) => {
    const test = randomUUID()
    const servers = await opened(
      { ending: fake(mode, { env: ['FAKE_TEST'] }) },
      { env: { PATH: '/usr/bin:/bin', FAKE_TEST: test } },
    )
    expect(marked(test).length).toBeGreaterThanOrEqual(mode === 'stubborn' ? 3 : 1)
    const call = servers.call('ending:slow')
    await servers.close()
    expect(await call).toMatchObject({ code: 'EXECUTION_FAILED' })
    expect(marked(test)).toEqual([])
    expect(await servers.call('ending:echo')).toMatchObject({ code: 'EXECUTION_FAILED', beforeEffect: true })
  })
})

test('a server that dies again and again is waited for longer and longer, up to a bound', async () => {
  const { call, clock } = await opened({ dying: fake() })
  for (let time = 0; time < 3; time++) expect(await call('dying:die')).toMatchObject({ code: 'EXECUTION_FAILED' })
  expect(clock.waits.every((ms) => ms >= 500 && ms <= 30_000)).toBe(true)
})
