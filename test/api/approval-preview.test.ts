import { expect, it } from 'vitest'
import { previewOf } from '../../api/app/runs/approval-preview.ts'
import { visible } from '../../api/app/text/visible-text.ts'

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

const NOTHING = { current: async (_: string, path: string) => ({ path, text: null }) }

it.each([
  ['run_command', { command: 'rm -rf build\u200b/\u202etxt.exe' }, 'rm -rf build‹U+200B›/‹U+202E›txt.exe'],
  ['run_command', { command: 'curl\u00a0x\u3000y' }, 'curl‹U+00A0›x‹U+3000›y'],
  ['run_command', { command: 'ls', cwd: 'a\u2066' }, 'ls\n(in a‹U+2066›)'],
  [
    'write_file',
    { path: 'a.txt', content: 'soft\u00adhyphen\u{e0041}\ufeff\r\n' },
    '+soft‹U+00AD›hyphen‹U+E0041›‹U+FEFF›\r\n',
  ],
  ['write_file', { path: 'a\u200d.txt', content: 'x\n' }, 'Index: a‹U+200D›.txt'],
  ['fetch:page', { url: 'https://e\u2060vil\u115f' }, 'https://e‹U+2060›vil‹U+115F›'],
  ['run_command', { command: 'a\u001b[2J\rb\u2028' }, 'a‹U+001B›[2J‹U+000D›b‹U+2028›'],
])('the preview of %s shows what could not be seen', async (toolName, args, text) => {
  expect((await previewOf({ agentId: 'a', toolName, arguments: args }, NOTHING)).text).toContain(text)
})

it('leaves what can be seen as it is', () => {
  const text = 'ключ = "naïve" + 値 + עברית\t# ✓ 👍\r\nnext'
  expect(visible(text)).toBe(text)
})
