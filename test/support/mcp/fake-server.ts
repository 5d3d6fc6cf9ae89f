import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'

// An MCP server over standard streams, of the older protocol era. It uses plain JSON-RPC, so that it can misbehave. Its
// first argument selects the behaviour.

const [mode = 'normal'] = process.argv.slice(2)
const object = (properties: object = {}, more: object = {}) => ({ type: 'object', properties, ...more })
const send = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const text = (words: string) => ({ content: [{ type: 'text', text: words }] })

/** A small schema with 2^20 parts after resolving its references. */
const doubling = () => {
  const $defs: Record<string, object> = { d20: { type: 'string' } }
  for (let i = 0; i < 20; i++)
    $defs[`d${i}`] = { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] }
  return object({ a: { $ref: '#/$defs/d0' } }, { $defs })
}
const nested = (depth: number): object => (depth === 0 ? {} : object({ a: nested(depth - 1) }))

/** The result of the work, or the code of its error. */
function tried(work: () => string): string {
  try {
    return work()
  } catch (error) {
    return (error as NodeJS.ErrnoException).code!
  }
}

let tools: { name: string; [key: string]: unknown }[] = [
  {
    name: 'echo',
    description: 'Says it again.',
    inputSchema: object({ words: { type: 'string' } }, { required: ['words'] }),
    annotations: { readOnlyHint: true },
  },
  { name: 'note', inputSchema: object(), annotations: { idempotentHint: true } },
  { name: 'fire', inputSchema: object() },
  { name: 'liar', inputSchema: object(), annotations: { readOnlyHint: true, destructiveHint: true } },
  ...[
    'fail',
    'image',
    'large-image',
    'resource',
    'link',
    'structured',
    'long',
    'slow',
    'progress',
    'die',
    'change',
    'drop',
    'env',
    'cwd',
    'pid',
    'read',
    'write',
    'connect',
    'refuse',
    'bad-arguments',
  ].map((name) => ({ name, inputSchema: object() })),
]
if (mode === 'schemas')
  tools = [
    { name: 'good', inputSchema: object({ a: { type: 'string', pattern: '^(a+)+$', description: 'A word' } }) },
    {
      name: 'tree',
      inputSchema: object(
        { root: { $ref: '#/$defs/node' } },
        { $defs: { node: object({ left: { $ref: '#/$defs/node' }, name: { type: 'string' } }) } },
      ),
    },
    {
      name: 'dialect',
      inputSchema: object(
        { a: { type: 'integer' } },
        {
          dependentSchemas: {},
          not: { required: ['b'] },
          unevaluatedProperties: false,
          patternProperties: { '^(x+)+$': {} },
        },
      ),
    },
    { name: 'doubling', inputSchema: doubling() },
    { name: 'nested', inputSchema: nested(60) },
    {
      name: 'wide',
      inputSchema: object(Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`p${i}`, { type: 'string' }]))),
    },
    { name: 'array', inputSchema: object({ a: { type: 'nonsense' } }) },
    { name: 'dots.and/slashes', inputSchema: object() },
    { name: 'dots/and.slashes', inputSchema: object() },
    { name: 'x'.repeat(80), inputSchema: object() },
    { name: 'ünïcode', inputSchema: object() },
    { name: 'wordy', description: 'w'.repeat(100_000), inputSchema: object() },
  ]
if (mode === 'many') tools = Array.from({ length: 400 }, (_, i) => ({ name: `t${i}`, inputSchema: object() }))

const ANSWERS: Record<
  string,
  (id: number, params: { arguments: { words?: string }; _meta?: { progressToken?: number } }) => void
> = {
  echo: (id, { arguments: { words } }) => send({ id, result: text(`you said ${words}`) }),
  fail: (id) => send({ id, result: { ...text('no such city'), isError: true } }),
  image: (id) =>
    send({
      id,
      result: {
        content: [
          { type: 'text', text: 'a dot' },
          { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
        ],
      },
    }),
  'large-image': (id) =>
    send({ id, result: { content: [{ type: 'image', data: 'A'.repeat(400_000), mimeType: 'image/png' }] } }),
  resource: (id) =>
    send({
      id,
      result: {
        content: [
          { type: 'resource', resource: { uri: 'x://a', text: 'inside', mimeType: 'text/plain' } },
          { type: 'resource', resource: { uri: 'x://b', blob: 'AAEC' } },
        ],
      },
    }),
  link: (id) => send({ id, result: { content: [{ type: 'resource_link', uri: 'x://c', name: 'c' }] } }),
  structured: (id) => send({ id, result: { ...text('{"degrees":21}'), structuredContent: { degrees: 21 } } }),
  long: (id) => send({ id, result: text('line of text\n'.repeat(10_000)) }),
  slow: () => {},
  progress: (id, { _meta }) => {
    for (const progress of [1, 2])
      send({
        method: 'notifications/progress',
        params: { progressToken: _meta?.progressToken, progress, total: 2, message: `step ${progress}` },
      })
    send({ id, result: text('done') })
  },
  die: () => {
    process.stderr.write('out of luck\n')
    process.exitCode = 3
    process.exit()
  },
  change: (id) => {
    tools = tools
      .map((tool) => (tool.name === 'fire' ? { ...tool, description: 'Now fires twice.' } : tool))
      .filter(({ name }) => name !== 'note')
    send({ id, result: text('changed') })
    send({ method: 'notifications/tools/list_changed' })
  },
  drop: (id) => send({ id, result: { content: 'not a list' } }),
  env: (id) => send({ id, result: text(JSON.stringify(process.env)) }),
  cwd: (id) => send({ id, result: text(process.cwd()) }),
  pid: (id) => send({ id, result: text(`${process.pid}`) }),
  read: (id, { arguments: { words } }) => send({ id, result: text(tried(() => readFileSync(words!, 'utf8'))) }),
  write: (id, { arguments: { words } }) =>
    send({ id, result: text(tried(() => writeFileSync(words!, 'written') ?? 'written')) }),
  connect: (id, { arguments: { words } }) =>
    connect(Number(words), '127.0.0.1')
      .on('connect', () => send({ id, result: text('connected') }))
      .on('error', (error) => send({ id, result: text((error as NodeJS.ErrnoException).code!) })),
  refuse: (id) => send({ id, error: { code: -32000, message: 'not today' } }),
  'bad-arguments': (id) => send({ id, error: { code: -32602, message: 'words: expected text' } }),
}

function answer(line: string): void {
  const { id, method, params } = JSON.parse(line)
  if (mode === 'silent') return
  if (method === 'initialize')
    send({
      id,
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: 'fake', version: '1' },
      },
    })
  else if (method === 'tools/list')
    send({ id, result: mode === 'pages' ? { tools: [], nextCursor: `${Math.random()}` } : { tools } })
  else if (method === 'tools/call')
    (ANSWERS[params.name] ?? (() => send({ id, error: { code: -32602, message: 'no such tool' } })))(id, params)
  else if (id !== undefined && mode === 'old') process.exit(1)
  else if (id !== undefined) send({ id, error: { code: -32601, message: 'Method not found' } })
}

if (mode === 'crash') {
  process.stderr.write('missing API key\n')
  process.exit(1)
}
if (mode === 'stubborn') {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
  // One process in its group, and one outside the group.
  spawn('sleep', ['1000'], { stdio: 'inherit' })
  spawn('sleep', ['1001'], { stdio: 'inherit', detached: true })
  setInterval(() => {}, 1_000)
}
if (mode === 'line' || mode === 'stray') {
  const piece = mode === 'line' ? Buffer.alloc(1 << 20, 'x') : Buffer.from('not a message\n'.repeat(100))
  const more = () => {
    while (process.stdout.write(piece));
  }
  process.stdout.on('drain', more)
  more()
}
if (mode === 'deep') process.stdout.write(`{"jsonrpc":"2.0","method":"x","params":${'['.repeat(500_000)}\n`)
if (mode === 'wide') process.stdout.write(`{"jsonrpc":"2.0","method":"x","params":[${'1,'.repeat(100_000)}1]}\n`)
if (mode === 'chatty') process.stdout.write('Starting the server …\n\n')
createInterface({ input: process.stdin }).on('line', answer)
