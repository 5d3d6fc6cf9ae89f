// @module-tag git
import { existsSync } from 'node:fs'
import { expect, it } from 'vitest'
import {
  checkTool,
  defineTool,
  fakeContext,
  specFaults,
  type Tool,
  type ToolDefinition,
  ToolError,
  type ToolSpec,
  z,
} from '../../../api/library/tool-kit.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (from: Uint8Array) => new TextDecoder().decode(from)

type Arguments = { path: string; text: string }
const put = (more: Partial<ToolDefinition<Arguments>> = {}): Tool =>
  defineTool({
    name: 'my:put',
    description: 'Writes a file.',
    parameters: z.strictObject({ path: z.string().min(1), text: z.string() }),
    effect: 'idempotent',
    paths: { path: 'write' },
    timeLimitMs: 1000,
    async run(args, { workspace }) {
      await workspace!.write(args.path, bytes(args.text))
      return { content: 'written', changed: [args.path] }
    },
    ...more,
  })
const sample = { arguments: { path: 'a/b.txt', text: 'x' } }
const withSpec = (more: Partial<ToolSpec>): Tool => ({ ...put(), spec: { ...put().spec, ...more } })

it('gives a tool a real workspace, commands and an abort, and cleans up', async () => {
  const context = await fakeContext({ files: { 'in.txt': 'hello' }, commands: true })
  expect(text(await context.workspace.read('in.txt'))).toBe('hello')
  await expect(context.workspace.read('../data')).rejects.toMatchObject({ code: 'SANDBOX_VIOLATION' })
  const command = { argv: ['cat', 'in.txt'], cwd: '.', timeoutMs: 10_000, network: false }
  const { exitCode } = await context.sandbox!.exec(command, context.signal, context.onOutput)
  expect([exitCode, context.output()]).toEqual([0, 'hello'])
  context.abort(new Error('enough'))
  expect(context.signal.reason).toEqual(new Error('enough'))
  await context.close()
  expect(existsSync(context.workspace.path)).toBe(false)
  expect((await fakeContext()).sandbox).toBeNull()
})

it('finds nothing in a tool that keeps its word', async () => {
  expect(await checkTool(put(), sample)).toEqual([])
  const read = put({ effect: 'pure', paths: { path: 'read' }, run: async () => ({ content: { n: 1 } }) })
  expect(await checkTool(read, sample)).toEqual([])
  const probe: ToolDefinition<Arguments>['probe'] = async (args, { workspace }) => ({
    found: (await workspace!.exists(args.path)) ? 'happened' : 'absent',
  })
  expect(await checkTool(put({ effect: 'reconcilable', probe }), sample)).toEqual([])
  const once = put({ effect: 'irreversible' })
  expect(await checkTool(once, sample)).toEqual([])
})

it.each<[string, Partial<ToolSpec>, string]>([
  ['no server', { name: 'put' }, 'needs a server before it'],
  ['a name that providers refuse', { name: 'my:a.b' }, 'models take letters, digits'],
  ['a longer one', { name: `my:${'a'.repeat(61)}` }, 'at most 64 characters'],
  ['a bad name', { name: 'My:put' }, 'spec.name: '],
  ['no description', { description: ' ' }, 'spec.description'],
  ['control', { control: 'continues' }, 'spec.control'],
  ['no object', { parameters: { type: 'string' }, paths: {} }, 'with "type": "object"'],
  ['no schema', { parameters: { type: 'object', properties: { path: { type: 'mystery' } } } }, 'no usable JSON Schema'],
  ['unknown path', { paths: { file: 'write' } }, '"file" is not among the parameters'],
  ['no probe', { effect: 'reconcilable' }, 'probe: missing'],
])('names what is wrong with a spec: %s', (_, more, fault) => {
  expect(specFaults(withSpec(more)).join('\n')).toContain(fault)
})

let outside = 0
const probe = (found: 'happened' | 'absent') => async () => ({ found })
it.each<[string, Tool, string]>([
  ['a probe for nothing', put({ probe: probe('absent') }), 'probe: never asked of a tool that is idempotent'],
  ['pure, but writes', put({ effect: 'pure' }), 'effect: it is called pure, but changes the world'],
  [
    'idempotent, but counts',
    put({
      async run(args, { workspace }) {
        const before = (await workspace!.exists(args.path)) ? text(await workspace!.read(args.path)) : ''
        await workspace!.write(args.path, bytes(before + args.text))
        return { content: null, changed: [args.path] }
      },
    }),
    'effect: it is called idempotent',
  ],
  [
    'idempotent, but not elsewhere',
    put({ run: async () => ({ content: ++outside }) }),
    'effect: it is called idempotent',
  ],
  [
    'a probe that knows nothing',
    put({ effect: 'reconcilable', probe: probe('absent') }),
    'does not say that the call happened',
  ],
  [
    'a probe that always says yes',
    put({ effect: 'reconcilable', probe: probe('happened') }),
    'says that the call happened before it ran',
  ],
  [
    'a probe that acts',
    put({
      effect: 'reconcilable',
      async probe(args, { workspace }) {
        await workspace!.write(args.path, bytes(args.text))
        return { found: 'absent' }
      },
    }),
    'probe: it changes the world',
  ],
  [
    'a write that is not told',
    put({ run: async (a, { workspace }) => ({ content: (await workspace!.write(a.path, bytes('x'))).created }) }),
    'result.changed: a/b.txt',
  ],
  [
    'a write elsewhere',
    put({
      async run(_, { workspace }) {
        await workspace!.write('other.txt', bytes('x'))
        return { content: null, changed: ['other.txt'] }
      },
    }),
    'spec.paths: other.txt was changed',
  ],
  [
    'a result that is no JSON',
    put({ run: async () => ({ content: { at: new Date(0) } as never }) }),
    'result: content and detail',
  ],
  [
    'a failure',
    put({ run: async () => Promise.reject(new ToolError('CONFLICT', 'taken')) }),
    "it fails with the sample's arguments: taken",
  ],
])('catches %s', async (_, tool, fault) => {
  expect((await checkTool(tool, { ...sample, observe: () => outside })).join('\n')).toContain(fault)
})

it('catches a schema that refuses what the tool is to be called with', async () => {
  expect(await checkTool(put(), { arguments: { path: 'a', text: 'x', mode: 3 } })).toHaveLength(1)
  expect((await checkTool(put(), { arguments: { path: 5 } })).join('\n')).toContain(
    'arguments.path: the schema refuses',
  )
})
