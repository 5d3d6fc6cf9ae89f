import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { McpLease, McpPool } from '../../../adapters/mcp/pool.ts'
import { DriveTools } from '../../../api/process/host/outside-tools.ts'
import type { ToolSpec } from '../../../domain/calls/tools/tool-spec.ts'
import type { Tool } from '../../../domain/ports/index.ts'
import { toolSpec } from '../../support/harness.ts'
import { toolContext } from '../../support/network/web-server.ts'
import { inProcess } from '../support/cli.ts'

// Tools of MCP servers in a drive, without a server's process; test/agents has real ones.

/** A pool of one server, `tracker`, that offers these tools now. */
function pool(offered: readonly ToolSpec[], faults: readonly string[] = []) {
  const seen = { ran: [] as string[], folders: [] as string[], open: 0 }
  const asTool = (spec: ToolSpec): Tool => ({
    spec,
    run: async () => {
      seen.ran.push(spec.name)
      return { content: 'done' }
    },
  })
  const lease = async (_: string, folder: string): Promise<McpLease> => {
    seen.open++
    seen.folders.push(folder)
    return { tools: () => offered.map(asTool), faults, release: () => void seen.open-- }
  }
  const serverOf = (name: string) => (name.startsWith('tracker:') ? 'tracker' : null)
  return { seen, pool: { servers: ['tracker'], serverOf, lease } as unknown as McpPool }
}

const recorded = toolSpec('tracker:add', { effect: 'irreversible' })
const drive = (of: McpPool, tools: readonly ToolSpec[] = [recorded]) =>
  new DriveTools(of, { tools: [...tools], workspace: { path: '/w', tree: null } })

test('a tool of the run is called at its server, in the folder of the run; the end of the drive lets go of it', async () => {
  const { seen, pool: of } = pool([{ ...recorded, timeLimitMs: 5 }])
  const tools = drive(of)
  expect(await tools.tool('tracker:add')!.run({}, toolContext())).toEqual({ content: 'done' })
  expect(seen).toEqual({ ran: ['tracker:add'], folders: ['/w'], open: 1 })
  tools.close()
  expect(seen.open).toBe(0)
})

test('a drive connects to no server before a call, and knows only the tools that its run has recorded', () => {
  const { seen, pool: of } = pool([recorded, toolSpec('tracker:drop')])
  const tools = drive(of)
  expect(tools.tool('tracker:drop')).toBeUndefined()
  expect(tools.tool('other:add')).toBeUndefined()
  expect(tools.tool('tracker:add')?.spec).toBe(recorded)
  expect(seen.open).toBe(0)
})

test('a tool that the run has recorded anew since is called as it is now', async () => {
  const now = { ...recorded, description: 'Adds more.' }
  const { seen, pool: of } = pool([now])
  await drive(of)
    .tool('tracker:add')!
    .run({}, { ...toolContext(), tool: now })
  expect(seen.ran).toEqual(['tracker:add'])
})

test.each<[string, Partial<ToolSpec>]>([
  ['description', { description: 'Deletes everything.' }],
  ['parameters', { parameters: { type: 'object', properties: { all: {} } } }],
  ['effect', { effect: 'pure' }],
])('a tool with another %s than the recorded one is not called', async (_, change) => {
  const { seen, pool: of } = pool([{ ...recorded, ...change }])
  const call = drive(of).tool('tracker:add')!.run({}, toolContext())
  const { description, parameters, effect } = { ...recorded, ...change }
  const tool = { description, parameters, effect }
  await expect(call).rejects.toMatchObject({ code: 'CONFLICT', beforeEffect: true, tool })
  expect(seen.ran).toEqual([])
})

test('a tool that its server does not offer any more is not called, and the reason is told', async () => {
  const { pool: of } = pool([], ['MCP server "tracker" cannot be reached: it exited with 1'])
  await expect(drive(of).tool('tracker:add')!.run({}, toolContext())).rejects.toMatchObject({
    code: 'RESOURCE_NOT_FOUND',
    message: expect.stringContaining('it exited with 1'),
    beforeEffect: true,
  })
})

test('a server that cannot be reached has no tools: the list tells why, and a run that needs it is refused', async () => {
  const data = realpathSync(mkdtempSync(join(tmpdir(), 'keepup-mcp-')))
  onTestFinished(() => rmSync(data, { recursive: true, force: true }))
  const mcp = { tracker: { url: 'http://127.0.0.1:9/mcp', connectMs: 5_000 } }
  writeFileSync(join(data, 'keepup.json'), JSON.stringify({ mcp, web: {} }))
  const listed = await inProcess(['--data', data, '-o', 'json', 'tools'])
  expect(listed.code).toBe(0)
  expect(listed.err).toContain('MCP server "tracker" cannot be reached')
  const names = (JSON.parse(listed.out) as { name: string }[]).map(({ name }) => name)
  expect(names).toContain('read_url')
  expect(names).not.toContain('search_web')
  const run = ['run', 'do it', '--no-workspace', '--model', 'scripted:/nowhere.json']
  const refused = await inProcess(['--data', data, ...run, '--approve', 'tracker:add'])
  expect(refused.code).not.toBe(0)
  expect(refused.err).toContain('there is no tool tracker:add')
})
