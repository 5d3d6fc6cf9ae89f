import { expect, it } from 'vitest'
import { previewOf } from '../../api/runs/approval-preview.ts'

it.each([
  [undefined, 'unused', 'make'],
  ['sub', 'sub', 'make\n(in sub)'],
  ['./sub/', 'sub', 'make\n(in ./sub/)'],
  ['.', '', 'make\n(in .)'],
  ['link', 'a/b', 'make\n(in link, which leads to a/b)'],
  ['up', '', 'make\n(in up, which leads to the workspace itself)'],
])('a command in %j that leads to %j says so', async (cwd, path, text) => {
  const files = { current: async () => ({ path, text: null }) }
  const approval = { agentId: 'a', toolName: 'run_command', arguments: { command: 'make', ...(cwd && { cwd }) } }
  expect(await previewOf(approval, files)).toEqual({ kind: 'command', text })
})
