import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { Refused } from '../../api/cli/client.ts'
import type { Context } from '../../api/cli/context.ts'
import { mcpServer } from '../../api/mcp/server.ts'
import { SERVED_TOOLS } from '../../api/mcp/tools.ts'

// keepup as an MCP server, without a process: test/agents has a real client of a real process.

/** A client of a server whose requests all come to this. */
async function client(readOnly: boolean, answer: () => Promise<never>) {
  const server = mcpServer({ client: answer } as unknown as Context, { readOnly })
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
    return tools.map(({ name }) => name).sort()
  }
  expect(await names(true)).toEqual(
    SERVED_TOOLS.filter(({ changes }) => !changes)
      .map(({ name }) => name)
      .sort(),
  )
  expect(await names(false)).toEqual(SERVED_TOOLS.map(({ name }) => name).sort())
  expect((await names(false)).length).toBeGreaterThan((await names(true)).length)
})

test('what is refused is told in words, with its code', async () => {
  const problem = { type: 'about:blank', title: 'x', status: 404, code: 'RUN_NOT_FOUND', detail: 'there is no run r1' }
  const refuses = await client(false, () => Promise.reject(new Refused(problem as never)))
  expect(await refuses.callTool({ name: 'get_run', arguments: { run: 'r1' } })).toMatchObject({
    isError: true,
    content: [{ type: 'text', text: 'RUN_NOT_FOUND: there is no run r1' }],
  })
})
