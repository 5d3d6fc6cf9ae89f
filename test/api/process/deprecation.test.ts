import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { OpenAPIHono } from '@hono/zod-openapi'
import { Command } from 'commander'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { formerOption } from '../../../api/cli/commands/kit.ts'
import { declaredGuard, routesOf } from '../../../api/http/declared-guard.ts'
import { DEPRECATED, deprecationHeader } from '../../../api/http/deprecation-header.ts'
import { deprecated } from '../../../api/operations/deprecation.ts'
import { RENAMED } from '../../../api/process/config/renamed.ts'
import { ConfigSchema, loadConfig, unknownVariables } from '../../../api/process/config/settings.ts'
import { tempFolder } from '../../support/folders.ts'

const renamed = { driveLimit: { since: '1.1', use: 'concurrency' } }

it('a setting keeps its former name in the file and in its variable, and says so', () => {
  const data = tempFolder()
  writeFileSync(join(data, 'keepup.json'), JSON.stringify({ driveLimit: 7 }))
  const inFile = loadConfig({ flags: { data }, env: {} }, renamed)
  expect([inFile.concurrency, inFile.deprecations]).toEqual([
    7,
    [
      expect.stringContaining(
        'is deprecated since 1.1, and 1.2 is the last minor version that accepts it; use "concurrency"',
      ),
    ],
  ])
  const env = { KEEPUP_DRIVE_LIMIT: '9' }
  expect(unknownVariables(env, renamed)).toEqual([])
  const inVariable = loadConfig({ flags: { data: join(data, 'none') }, env }, renamed)
  expect([inVariable.concurrency, inVariable.deprecations]).toEqual([
    9,
    [expect.stringMatching(/^the variable KEEPUP_DRIVE_LIMIT is .* use KEEPUP_CONCURRENCY$/)],
  ])
  expect(loadConfig({ flags: { data: join(data, 'none') }, env: {} }, renamed).deprecations).toBe(undefined)
  writeFileSync(join(data, 'keepup.json'), JSON.stringify({ constructor: 7 }))
  expect(() => loadConfig({ flags: { data }, env: {} }, renamed)).toThrow('unknown key "constructor"')
})

it('a setting under both names is refused, in the file and in the environment', () => {
  const data = tempFolder()
  writeFileSync(join(data, 'keepup.json'), JSON.stringify({ driveLimit: 7, concurrency: 8 }))
  expect(() => loadConfig({ flags: { data }, env: {} }, renamed)).toThrow('the former name of "concurrency"')
  const env = { KEEPUP_DRIVE_LIMIT: '9', KEEPUP_CONCURRENCY: '8' }
  expect(() => loadConfig({ flags: { data: join(data, 'none') }, env }, renamed)).toThrow('take it away')
})

it('each renamed setting leads to a setting, and its former name is none', () => {
  for (const [former, { use }] of Object.entries(RENAMED))
    expect([former in ConfigSchema.shape, use in ConfigSchema.shape]).toEqual([false, true])
})

const program = async (...argv: string[]) => {
  const told: string[] = []
  const seen: object[] = []
  const command = new Command('run').exitOverride().option('--turns <n>', 'turns', Number)
  formerOption(command, { stderr: { write: (text: string) => told.push(text) } }, '--loops <n>', {
    since: '1.1',
    use: '--turns',
  })
  command.action((options: object) => void seen.push(options))
  await command.parseAsync(argv, { from: 'user' })
  return { told, seen, help: command.helpInformation() }
}

it('an option keeps its former name, which the help does not show, and says so', async () => {
  const { told, seen, help } = await program('--loops', '3')
  expect(seen).toMatchObject([{ turns: 3 }])
  expect(told).toEqual([
    '--loops is deprecated since 1.1, and 1.2 is the last minor version that accepts it; use --turns\n',
  ])
  expect(help).not.toContain('--loops')
  const now = await program('--turns', '3')
  expect([now.told, now.seen]).toMatchObject([[], [{ turns: 3 }]])
  await expect(program('--turns', '3', '--loops', '4')).rejects.toThrow('--loops is the former name of --turns')
})

it('an answer names the deprecated members of its request, and the description marks them', async () => {
  const app = new OpenAPIHono()
  const find = routesOf(() => app.openAPIRegistry.definitions)
  app.use(declaredGuard(find), deprecationHeader(find))
  const old = <T extends z.ZodType>(schema: T) => deprecated(schema, { since: '1.1', use: 'text' })
  app.openapi(
    {
      method: 'post',
      path: '/v1/things',
      request: {
        query: z.object({ word: old(z.string().optional()), limit: z.string().optional() }),
        body: {
          content: {
            'application/json': { schema: z.object({ label: old(z.string()).optional(), text: z.string() }) },
          },
        },
      },
      responses: { 200: { description: 'Done' } },
    },
    (c) => c.json(c.req.valid('json')),
  )
  const ask = async (query: string, body: object) => {
    const request = { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    const response = await app.request(`/v1/things${query}`, request)
    return [response.status, await response.json(), response.headers.get(DEPRECATED)]
  }
  expect(await ask('?limit=1', { text: 'a' })).toEqual([200, { text: 'a' }, null])
  const both = { label: 'x', text: 'a' }
  expect(await ask('?word=x', both)).toEqual([
    200,
    both,
    'word is deprecated since 1.1, and 1.2 is the last minor version that accepts it; use text. ' +
      'label is deprecated since 1.1, and 1.2 is the last minor version that accepts it; use text',
  ])
  const { paths } = app.getOpenAPI31Document({ openapi: '3.1.0', info: { title: 't', version: '1' } })
  expect(JSON.stringify(paths).match(/"deprecated":true/g)).toHaveLength(2)
})
