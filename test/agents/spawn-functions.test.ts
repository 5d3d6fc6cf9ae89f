import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { AgentRuntime, ClaudeCodeProvider, FunctionRegistry, RecursiveSpawner } from '../../api/index.ts'
import { FakeClaude } from '../support/spawn/fake-claude.ts'

// CONTRACTS 14, Planned: a subprocess calls the functions of the registry over MCP while it runs.

const PROGRAM = join(import.meta.dirname, '../support/spawn/calling-claude.ts')
const TWO = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] }

async function opened(register: (functions: FunctionRegistry) => FunctionRegistry) {
  const claude = new FakeClaude([])
  const program = join(claude.root, 'bin', 'claude')
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`)
  chmodSync(program, 0o755)
  const keepup = await claude.open()
  const provider = new ClaudeCodeProvider({ keepup, workingDir: claude.work })
  const functions = register(new FunctionRegistry())
  const store = keepup.contextStore('functions')
  return { keepup, store, runtime: new AgentRuntime({ provider, store, functions }) }
}
const left = () => readdirSync(tmpdir()).filter((name) => name.startsWith('keepup-functions-'))

test('the functions of the prompt are called by the process, and the calls are recorded', async () => {
  const before = left()
  const callers: string[] = []
  const { keepup, runtime } = await opened((functions) =>
    functions.register({
      ...{ name: 'multiply', description: 'Multiplies.', parameters: TWO },
      call: ({ a, b }, { agentId }) => {
        callers.push(agentId)
        return (a as number) * (b as number)
      },
    }),
  )
  const { result } = await runtime.run(runtime.create({ id: 'a1', prompt: 'Call it with {"a":6,"b":7}.', model: 'm' }))
  expect([result, callers]).toEqual(['mcp__keepup__multiply=42', ['a1']])
  expect(left()).toEqual(before)
  const runs = await Array.fromAsync(keepup.runs())
  const recorded = (await keepup.externalRuns.recorded(runs[0]!.runId))!
  const told = await Array.fromAsync(recorded.events)
  expect(told.map(({ kind }) => kind)).toEqual(['Status', 'ToolCall', 'ToolResult', 'Status'])
  expect(told[1]).toMatchObject({ message: 'mcp__keepup__multiply', data: { input: { a: 6, b: 7 } } })
  const { prompt, extensions } = recorded.state.request
  expect(prompt).toMatch(/\n\nAvailable functions \(MCP server "keepup"\):\n- multiply: Multiplies\.$/)
  const { config } = extensions!['backend.claude_code.mcp'] as { config: string }
  expect(existsSync(config)).toBe(false)
})

test('an agent spawns agents of its own by a function, although one alone may be at work', async () => {
  let spawner: RecursiveSpawner
  let spawned = 0
  const { runtime } = await opened((functions) =>
    functions.register({
      ...{ name: 'spawn', description: 'Spawns.', parameters: { type: 'object' } },
      call: async ({ depth }, { agentId }) => {
        if (depth === 0) return 'leaf'
        const prompt = `Spawn with {"depth":${(depth as number) - 1}}`
        const { result } = await spawner.spawn({ id: `c${++spawned}`, prompt, model: 'm', parentId: agentId })
        return String(result!.result)
      },
    }),
  )
  spawner = new RecursiveSpawner({ runtime, maxConcurrent: 1 })
  const { result } = await spawner.spawn({ id: 'root', prompt: 'Spawn with {"depth":2}', model: 'm' })
  expect(result!.result).toBe('mcp__keepup__spawn=mcp__keepup__spawn=mcp__keepup__spawn=leaf')
  expect([spawner.depth('c1'), spawner.depth('c2')]).toEqual([1, 2])
  expect(result!.children[0]!.children[0]!.agentId).toBe('c2')
})
