import { expect, it, onTestFinished } from 'vitest'
import { MemoryLog } from '../../adapters/log-memory/log.ts'
import { previewOf } from '../../api/app/runs/approval-preview.ts'
import { visible } from '../../api/app/text/visible-text.ts'
import { DocumentGateway, made, portsOver, textsOf } from '../support/documents/runtime.ts'
import { ToolDesk } from '../support/documents/tools.ts'
import { BEFORE } from '../support/sealing.ts'

const NO_DOCUMENTS = {
  preview: () => {
    throw new Error('no document is looked at')
  },
}

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
  expect(await previewOf(approval, { files, documents: NO_DOCUMENTS })).toEqual({ kind: 'command', text })
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
  expect(
    (await previewOf({ agentId: 'a', toolName, arguments: args }, { files: NOTHING, documents: NO_DOCUMENTS })).text,
  ).toContain(text)
})

it('leaves what can be seen as it is', () => {
  const text = 'ключ = "naïve" + 値 + עברית\t# ✓ 👍\r\nnext'
  expect(visible(text)).toBe(text)
})

it('an edit of a document is shown as a patch of its Markdown, and changes nothing', async () => {
  const gateway = new DocumentGateway(portsOver(new MemoryLog({ clock: BEFORE })))
  onTestFinished(() => gateway.close())
  const id = await made(gateway, '<h1>Plan</h1><p>First.</p>')
  const approval = { agentId: 'a', toolName: 'edit_document' }
  const at = { files: NOTHING, documents: gateway }
  const args = await new ToolDesk(gateway).replacement(id, 'Second <b>one</b>\u200b.', 1)
  const { kind, text } = await previewOf({ ...approval, arguments: args as never }, at)
  expect(kind).toBe('diff')
  expect(text).toContain(`--- document ${id} (Plan)`)
  expect(text).toContain('-First.\n+Second **one**‹U+200B›.')
  expect(await textsOf(gateway, id)).toEqual(['Plan', 'First.'])
  const stale = { ...args, preconditions: [{ ...args.preconditions[0]!, if_match_context_hash: 'x' }] }
  const refused = await previewOf({ ...approval, arguments: stale as never }, at)
  expect(refused.text).toContain('409 AI_PRECONDITION_FAILED, the document has changed')
  expect(refused.text).toContain(args.ops_xml.slice(0, 20))
})

it('a new document is shown as a patch', async () => {
  const approval = { agentId: 'a', toolName: 'create_document', arguments: { title: 'Plan', content: '# Plan\n' } }
  const { kind, text } = await previewOf(approval, { files: NOTHING, documents: NO_DOCUMENTS })
  expect([kind, text]).toEqual(['diff', expect.stringContaining('+# Plan')])
})
