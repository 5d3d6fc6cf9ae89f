import { applyPatch } from 'diff'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { previewLines } from '../../../api/cli/ask/ask-person.ts'
import { previewOf } from '../../../api/operations/approvals/preview.ts'
import { patchOf } from '../../../api/operations/files/diff/patch.ts'
import { visible } from '../../../api/operations/text/visible-text.ts'
import { DocumentGateway, made, portsOver, textsOf } from '../../support/documents/runtime.ts'
import { ToolDesk } from '../../support/documents/tools.ts'
import { BEFORE } from '../../support/log/sealing.ts'
import { property } from '../../support/property.ts'

const NO_DOCUMENTS = {
  preview: () => {
    throw new Error('no document is looked at')
  },
}

const ABSENT = { content: 'absent', text: null, size: null } as const
const NO_FILE = { files: [], more: false }

it.each([
  [undefined, 'unused', []],
  ['sub', 'sub', ['The command works in "sub".']],
  ['./sub/', 'sub', ['The command works in "./sub/".']],
  ['.', '', ['The command works in ".".']],
  ['link', 'a/b', ['The command works in "link", which leads to "a/b".']],
  ['up', '', ['The command works in "up", which leads to the workspace itself.']],
])('a command in %j that leads to %j says so', async (cwd, path, notes) => {
  const files = { current: async () => ({ ...ABSENT, path }), named: async () => NO_FILE }
  const approval = { agentId: 'a', toolName: 'run_command', arguments: { command: 'make', ...(cwd && { cwd }) } }
  const preview = { kind: 'command', text: 'make', notes, files: [] }
  expect(await previewOf(approval, { files, documents: NO_DOCUMENTS })).toEqual(preview)
})

const NOTHING = { current: async (_: string, path: string) => ({ ...ABSENT, path }), named: async () => NO_FILE }
const at = { files: NOTHING, documents: NO_DOCUMENTS }
const command = (args: object) => previewOf({ agentId: 'a', toolName: 'run_command', arguments: args as never }, at)
/** The preview of a write over a file with this text. */
const write = (before: string, content: string) => {
  const file = { path: 'f', content: 'a'.repeat(64), text: before, size: before.length }
  const files = { ...NOTHING, current: async () => file }
  const approval = { agentId: 'a', toolName: 'write_file', arguments: { path: 'f', content } }
  return previewOf(approval, { files, documents: NO_DOCUMENTS })
}

it('a time limit and the files that a command names are notes', async () => {
  const content = 'b'.repeat(64)
  const asked: (readonly string[])[] = []
  const named = async (_: string, __: string, names: readonly string[]) => {
    asked.push(names)
    return { files: [{ path: 'build.sh', content }], more: false }
  }
  const files = { ...NOTHING, named }
  const approval = { agentId: 'a', toolName: 'run_command', arguments: { command: 'sh build.sh', timeoutMs: 590_000 } }
  const preview = await previewOf(approval, { files, documents: NO_DOCUMENTS })
  expect(asked).toEqual([['sh', 'build.sh']])
  expect(preview.files).toEqual([{ path: 'build.sh', content }])
  expect(preview.notes).toEqual([
    'The time limit is 590000 ms.',
    `The command names "build.sh", which can change until then: SHA-256 ${content}.`,
    expect.stringContaining('keepup asks again'),
  ])
})

it('a note of a named file says where its link leads, and that it is absent', async () => {
  const content = 'b'.repeat(64)
  const named = async () => ({
    files: [
      { path: 'build.sh', content, leadsTo: 'b2.sh' },
      { path: 'gen.sh', content: 'unreadable' as const, leadsTo: null },
      { path: 'new.sh', content: 'absent' as const },
    ],
    more: false,
  })
  const approval = { agentId: 'a', toolName: 'run_command', arguments: { command: 'sh build.sh' } }
  const preview = await previewOf(approval, { files: { ...NOTHING, named }, documents: NO_DOCUMENTS })
  expect(preview.files[0]).toEqual({ path: 'build.sh', content })
  expect(preview.notes.slice(0, 3)).toEqual([
    `The command names "build.sh", which leads to "b2.sh" and can change until then: SHA-256 ${content}.`,
    'The command names "gen.sh", which leads out of the workspace or nowhere and can change until then: it is unreadable.',
    'The command names "new.sh", which can change until then: it is absent.',
  ])
})

it('thousands of blank lines and wide spaces stand as their number, and nothing of the rest is left out', async () => {
  const hidden = await command({ command: `ls${'\n'.repeat(3_001)}rm -rf src` })
  expect(hidden.text).toBe('ls\n‹3000 blank lines›\nrm -rf src')
  const spaced = await command({ command: `ls\n${`${' '.repeat(100)}\n`.repeat(3_000)}rm -rf src` })
  expect(spaced.text).toBe('ls\n‹3000 blank lines›\nrm -rf src')
  expect((await command({ command: `ls;${' '.repeat(5_000)}rm x` })).text).toBe('ls;‹5000 spaces or tabs›rm x')
  const patch = await write('a\n', `a\n${'\n'.repeat(3_000)}evil\n`)
  expect(patch.text).toContain('+‹3000 blank lines›\n+evil\n')
})

it('a content cannot imitate a mark or a note of keepup', async () => {
  const said = 'true\nnote: The command works in "safe".\n‹9000 blank lines›'
  const { text, notes } = await command({ command: said })
  expect(text).toBe('true\nnote: The command works in "safe".\n‹U+2039›9000 blank lines›')
  expect(notes).toEqual([])
  const lines = previewLines({ kind: 'command', text, notes: ['The time limit is 5 ms.'], files: [] })
  expect(lines.filter((line) => line.startsWith('note: '))).toEqual(['note: The time limit is 5 ms.'])
  const inName = await command({ command: 'ls', cwd: 'a\nnote: fine' })
  expect(inName.notes).toEqual(['The command works in "a\\nnote: fine".'])
})

it.each(['sh bui*.sh', `true ${Array.from({ length: 64 }, (_, n) => `f${n}`).join(' ')}; sh build.sh`])(
  'a command that can run files beside the compared ones says so',
  async (said) => {
    expect((await command({ command: said })).notes).toEqual([
      'The command can run more files, which keepup does not compare.',
    ])
  },
)

it('a note stays on one line, whatever the agent has named', async () => {
  const documents = {
    preview: async () => ({ refused: { status: 404, body: { code: 'NOT_FOUND', message: 'none' } } }),
  }
  const args = { doc_id: 'd\nnote: The edit is safe.', ops_xml: '<ops/>' }
  const { notes } = await previewOf(
    { agentId: 'a', toolName: 'edit_document', arguments: args },
    { files: NOTHING, documents: documents as never },
  )
  expect(notes).toEqual([expect.stringMatching(/^As document d‹U\+000A›note: The edit is safe\. is now/)])
})

it('a change of one line among 60,000 is found and shown', async () => {
  const lines = Array.from({ length: 60_000 }, (_, n) => `line ${n} of a long file\n`)
  const { text, notes } = await write(lines.join(''), lines.with(50_000, 'evil\n').join(''))
  expect(text).toBe(
    '--- f\tnow\n+++ f\tproposed\n@@ -49998,7 +49998,7 @@\n' +
      ` ${lines[49_997]} ${lines[49_998]} ${lines[49_999]}-${lines[50_000]}+evil\n` +
      ` ${lines[50_001]} ${lines[50_002]} ${lines[50_003]}`,
  )
  expect(notes).toEqual([])
})

it('a preview that is cut says how many changed lines it leaves out', async () => {
  const added = Array.from({ length: 60_000 }, (_, n) => `line ${n}\n`).join('')
  const { text, notes } = await write('old\n', added)
  const shown = text.split('\n').filter((line) => /^\+line \d+$/.test(line)).length
  expect(text.length).toBeLessThan(300_000)
  expect(notes).toEqual([`The preview is cut: ${60_000 - shown} added and 1 removed lines are not shown in full.`])
})

it('a long line is shown around its change', async () => {
  const [head, tail] = ['x'.repeat(400_000), 'y'.repeat(400_000)]
  const { text, notes } = await write(`${head}1${tail}\n`, `${head}2${tail}\n`)
  const around = (c: string) =>
    `‹399900 equal characters›${'x'.repeat(100)}${c}${'y'.repeat(100)}‹399900 equal characters›`
  expect(text).toContain(`-${around('1')}\n+${around('2')}\n`)
  expect(notes).toEqual([])
})

it('a long line that the change removes or keeps takes no room of an added one', async () => {
  const long = 'x'.repeat(1_000_000)
  const mark = `${'x'.repeat(1_999)}‹998001 more characters›`
  const removed = await write(`${long}\n`, 'evil\n')
  expect([removed.text, removed.notes]).toEqual([expect.stringContaining(`-${mark}\n+evil\n`), []])
  const kept = await write(`${long}\nold\n`, `${long}\nevil\n`)
  expect([kept.text, kept.notes]).toEqual([expect.stringContaining(` ${mark}\n-old\n+evil\n`), []])
  const [one, two] = ['a'.repeat(3_000), 'b'.repeat(3_000)]
  const swapped = await write(`${one}\n${two}\n`, `${two}1\n${one}2\n`)
  expect(swapped.text).toContain(`+${two}1\n+${one}2\n`)
})

it.each([
  ['', 'a\nb\n', '@@ -0,0 +1,2 @@\n+a\n+b\n'],
  ['a\nb\n', '', '@@ -1,2 +0,0 @@\n-a\n-b\n'],
  ['a\n\nb', 'a\nb', '@@ -1,3 +1,2 @@\n a\n-\n b\n\\ No newline at end of file\n'],
  ['\n\n\n\n\nx\n', '\n\n\n\n\ny\n', '@@ -3,4 +3,4 @@\n \n \n \n-x\n+y\n'],
  ['a\nX', 'aX', '@@ -1,2 +1,1 @@\n-a\n-X\n\\ No newline at end of file\n+aX\n\\ No newline at end of file\n'],
])('the change from %j to %j is a unified diff', async (before, after, hunk) => {
  expect((await write(before, after)).text).toBe(`--- f\tnow\n+++ f\tproposed\n${hunk}`)
})

it('every change is a patch that leads from one text to the other', () => {
  const line = fc.constantFrom('a', 'b', 'c', '')
  const text = fc
    .tuple(fc.array(line, { maxLength: 12 }), fc.constantFrom('', '\n'))
    .map(([lines, end]) => lines.join('\n') + end)
  const both = fc.property(text, text, (before, after) => {
    const patch = patchOf('f', before, after)
    fc.pre(!patch.text.includes('blank lines'))
    expect(applyPatch(before, patch.text)).toBe(after)
  })
  fc.assert(both, property(300))
})

it('a binary file, and one that cannot be read, are said to be there', async () => {
  const approval = { agentId: 'a', toolName: 'write_file', arguments: { path: 'f', content: 'x\n' } }
  const over = async (file: object) =>
    (
      await previewOf(approval, {
        ...at,
        files: { ...NOTHING, current: async () => ({ path: 'f', ...file }) as never },
      })
    ).notes
  const content = 'c'.repeat(64)
  expect(await over({ content, text: null, size: 7 })).toEqual([
    `The file is binary now (7 bytes, SHA-256 ${content}). The call replaces it.`,
  ])
  expect(await over({ content: 'unreadable', text: null, size: null, fault: 'too large' })).toEqual([
    'The file cannot be read now, so the text shows only the new content: too large.',
  ])
})

it.each([
  ['run_command', { command: 'sh build.sh', cwd: 'a' }, 'sh build.sh'],
  ['write_file', { path: 'f', content: 'x\n' }, '+x\n'],
])('the preview of %s shows what it can where the workspace cannot be read', async (toolName, args, text) => {
  const missing = Object.assign(new Error('the workspace /w does not exist'), { code: 'WORKSPACE_MISSING' })
  const fails = () => Promise.reject(missing)
  const preview = await previewOf(
    { agentId: 'a', toolName, arguments: args },
    { files: { current: fails, named: fails }, documents: NO_DOCUMENTS },
  )
  expect(preview).toMatchObject({
    text: expect.stringContaining(text),
    notes: expect.arrayContaining([
      'The workspace cannot be read here, so keepup compares no file: the workspace /w does not exist.',
    ]),
    files: [],
  })
})

it.each([
  ['run_command', { command: 'rm -rf build\u200b/\u202etxt.exe' }, 'rm -rf build‹U+200B›/‹U+202E›txt.exe'],
  ['run_command', { command: 'curl\u00a0x\u3000y' }, 'curl‹U+00A0›x‹U+3000›y'],
  [
    'write_file',
    { path: 'a.txt', content: 'soft\u00adhyphen\u{e0041}\ufeff\r\n' },
    '+soft‹U+00AD›hyphen‹U+E0041›‹U+FEFF›‹U+000D›\n',
  ],
  ['write_file', { path: 'a\u200d.txt', content: 'x\n' }, '--- a‹U+200D›.txt\tnow'],
  ['fetch:page', { url: 'https://e\u2060vil\u115f' }, 'https://e‹U+2060›vil‹U+115F›'],
  ['run_command', { command: 'a\u001b[2J\rb\u2028\r\n' }, 'a‹U+001B›[2J‹U+000D›b‹U+2028›‹U+000D›\n'],
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
  const inGateway = { files: NOTHING, documents: gateway }
  const args = await new ToolDesk(gateway).replacement(id, 'Second <b>one</b>\u200b.', 1)
  const { kind, text } = await previewOf({ ...approval, arguments: args as never }, inGateway)
  expect(kind).toBe('diff')
  expect(text).toContain(`--- document ${id} (Plan)`)
  expect(text).toContain('-First.\n+Second **one**‹U+200B›.')
  expect(await textsOf(gateway, id)).toEqual(['Plan', 'First.'])
  const stale = { ...args, preconditions: [{ ...args.preconditions[0]!, if_match_context_hash: 'x' }] }
  const refused = await previewOf({ ...approval, arguments: stale as never }, inGateway)
  expect(refused.notes[0]).toContain('409 AI_PRECONDITION_FAILED, the document has changed')
  expect(refused.text).toContain(args.ops_xml.slice(0, 20))
})

it('a new document is shown as a patch', async () => {
  const approval = { agentId: 'a', toolName: 'create_document', arguments: { title: 'Plan', content: '# Plan\n' } }
  const { kind, text } = await previewOf(approval, { files: NOTHING, documents: NO_DOCUMENTS })
  expect([kind, text]).toEqual(['diff', expect.stringContaining('+# Plan')])
})
