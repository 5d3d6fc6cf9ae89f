import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test } from 'vitest'
import type { Context } from '../../../api/cli/context.ts'
import { Refused } from '../../../api/http/answers.ts'
import { mcpServer } from '../../../api/mcp/server.ts'
import type { AnyOperation } from '../../../api/operations/operation.ts'
import { OPERATIONS } from '../../../api/operations/table.ts'

// keepup as an MCP server, without a process: test/agents has a real client of a real process.

/** A client of a server whose requests all come to this. */
async function client(readOnly: boolean, answer: () => Promise<never>) {
  const server = mcpServer({ backend: answer, by: 'ada' } as unknown as Context, { readOnly })
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  const one = new Client({ name: 'test', version: '1' })
  await Promise.all([server.connect(theirs), one.connect(ours)])
  onTestFinished(() => one.close())
  return one
}

const never = () => Promise.reject(new Error('not asked'))

test('a read-only server offers nothing that records, and the other one all of it', async () => {
  const names = async (readOnly: boolean) => {
    const { tools } = await (await client(readOnly, never)).listTools()
    return tools.map(({ name }) => name.replaceAll('_', '')).sort()
  }
  const offered = (OPERATIONS as readonly AnyOperation[]).filter(({ mcp }) => mcp !== undefined)
  const reading = offered.filter(({ http }) => http.startsWith('GET '))
  const namesOf = (operations: readonly AnyOperation[]) => operations.map(({ name }) => name.toLowerCase()).sort()
  expect(await names(true)).toEqual(namesOf(reading))
  expect(await names(false)).toEqual(namesOf(offered))
  expect(offered.length).toBeGreaterThan(reading.length)
})

test('what is refused is told in words, with its code', async () => {
  const problem = { type: 'about:blank', title: 'x', status: 404, code: 'RUN_NOT_FOUND', detail: 'there is no run r1' }
  const refuses = await client(false, () => Promise.reject(new Refused(problem as never)))
  expect(await refuses.callTool({ name: 'get_run', arguments: { runId: 'r1' } })).toMatchObject({
    isError: true,
    content: [{ type: 'text', text: 'RUN_NOT_FOUND: there is no run r1' }],
  })
})

test('the input of a tool is that of its operation, without the person, with numbers for the text of a query', async () => {
  const { tools } = await (await client(false, never)).listTools()
  const inputs = new Map(tools.map(({ name, inputSchema }) => [name, inputSchema]))
  expect(inputs.get('list_run_events')).toMatchObject({
    properties: { runId: { type: 'string' }, limit: { type: 'integer', default: 50 } },
    required: ['runId'],
  })
  expect(Object.keys(inputs.get('send_input')?.properties ?? {})).toEqual(['runId', 'text', 'agentId', 'toolCallId'])
})

test('a run that a tool starts has no right beyond the defaults, and its person is that of the server', async () => {
  const sent: Request[] = []
  const fetch = async (request: Request) => {
    sent.push(request)
    return Response.json({})
  }
  const one = await client(false, (async () => ({ fetch })) as never)
  const start = (args: object) => one.callTool({ name: 'start_run', arguments: { task: 'x', ...args } })
  for (const more of [{ secrets: ['KEY'] }, { policy: { sandboxed: false } }, { by: 'eve' }])
    expect(await start(more)).toMatchObject({ isError: true })
  expect(sent).toEqual([])
  await start({ policy: { mode: 'batch' } })
  expect(await sent[0]?.json()).toEqual({ by: 'ada', task: 'x', policy: { mode: 'batch' } })
})

test('questions name runs, agents and calls as answers do', async () => {
  const { tools } = await (await client(false, never)).listTools()
  const members = tools.flatMap(({ name, inputSchema }) =>
    Object.keys(inputSchema.properties ?? {}).map((member) => `${name}.${member}`),
  )
  expect(members.filter((member) => /\.(?:id|run|agent|call)$/.test(member))).toEqual([])
  expect(members).toEqual(expect.arrayContaining(['get_run.runId', 'list_approvals.runId', 'trace.toolCallId']))
})

test('list_runs has the filters of the HTTP list, under the same names', async () => {
  const asked: URL[] = []
  const fetch = async (request: Request) => {
    asked.push(new URL(request.url))
    return Response.json({ runs: [] })
  }
  const one = await client(true, (async () => ({ fetch })) as never)
  const filters = { status: 'failed', error: 'CANCELLED', waiting: 'people', over: 0.25, text: 'till', limit: 5 }
  await one.callTool({ name: 'list_runs', arguments: filters })
  expect(Object.fromEntries(asked[0]!.searchParams)).toEqual({ ...filters, over: '0.25', limit: '5' })
})

test('an answer is short unless the whole is asked for, and what a person decides on is never cut', async () => {
  const text = 'x'.repeat(9_000)
  const event = { id: 'e', cursor: 'c', agentId: 'a1', stream: 'agent-a1', type: 't', revision: 3, hash: 'h' }
  const answers: Record<string, object> = {
    '/v1/runs/r1/events': {
      events: [1, 2, 3].map(() => ({ ...event, payload: { text, list: [text, text] } })),
      next: 'n',
    },
    '/v1/approvals/c1': { preview: { text } },
  }
  const fetch = async ({ url }: Request) => Response.json(answers[new URL(url).pathname])
  const one = await client(true, (async () => ({ fetch })) as never)
  const ask = async (name: string, args: object) => {
    const { content } = await one.callTool({ name, arguments: { ...args } })
    return (content as unknown as [{ text: string }])[0].text
  }
  const short = await ask('list_run_events', { runId: 'r1' })
  expect(Buffer.byteLength(short)).toBeLessThan(4_096)
  expect(JSON.parse(short).next).toBe('n')
  const { payload, ...shown } = JSON.parse(short).events[0]
  expect(shown).toEqual({ agentId: 'a1', stream: 'agent-a1', type: 't', revision: 3, cut: true })
  expect(payload.text).toMatch(/^x+…$/)
  expect(JSON.parse(await ask('list_run_events', { runId: 'r1', full: true }))).toEqual(answers['/v1/runs/r1/events'])
  expect(JSON.parse(await ask('get_approval', { toolCallId: 'c1' }))).toEqual(answers['/v1/approvals/c1'])
})
