import { describe, expect, it } from 'vitest'
import { fileEdits } from '../../../api/operations/external/reported-edits.ts'

const only = (input: unknown, result: unknown = null) => {
  const [edit, ...others] = fileEdits(input, result)
  expect(others).toEqual([])
  return edit!
}
const lines = (patch: string | null) => (patch ?? '').split('\n').filter((line) => /^[-+](?![-+])/.test(line))

describe('file edits that agents report', () => {
  it.each([
    ['Claude Code', { file_path: '/w/a.ts', old_string: 'one', new_string: 'two' }],
    ['opencode', { filePath: '/w/a.ts', oldString: 'one', newString: 'two', replaceAll: false }],
    ['Claude Code, several', { file_path: '/w/a.ts', edits: [{ old_string: 'one', new_string: 'two' }] }],
    ['the protocol', { kind: 'edit', content: [{ type: 'diff', path: '/w/a.ts', oldText: 'one', newText: 'two' }] }],
    ['Codex', { changes: [{ path: '/w/a.ts', kind: 'update', diff: '@@ -1 +1 @@\n-one\n+two' }] }],
    ['a patch envelope', { patchText: '*** Begin Patch\n*** Update File: /w/a.ts\n-one\n+two\n*** End Patch' }],
    [
      'a patch envelope in a command',
      { command: "apply_patch <<'E'\n*** Begin Patch\n*** Update File: /w/a.ts\n@@\n-one\n+two\n*** End Patch\nE" },
    ],
  ])('%s: the path and the lines', (_, input) => {
    const edit = only(input)
    expect(edit.path).toBe('/w/a.ts')
    expect(edit.patch).toMatch(/^--- \/w\/a\.ts\n\+\+\+ \/w\/a\.ts\n@@/)
    expect(lines(edit.patch)).toEqual(['-one', '+two'])
  })

  it('a written file is added lines, and a path without a difference is an edit too', () => {
    expect(lines(only({ file_path: 'a', content: 'x\ny\n' }).patch)).toEqual(['+x', '+y'])
    expect(only({ changes: [{ path: 'a', kind: 'delete' }] })).toEqual({ path: 'a', patch: null })
  })

  it('the patch of the result replaces the input, and is divided by file', () => {
    const two =
      'Index: a\n====\n--- a\t1\n+++ a\t2\n@@ -7 +7 @@\n-one\n+two\nIndex: b\n====\n--- b\n+++ b\n@@ -1 +1 @@\n-x\n+y\n'
    const edits = fileEdits({ filePath: 'a', oldString: 'one', newString: 'two' }, { patch: two })
    expect(edits.map(({ path }) => path)).toEqual(['a', 'b'])
    expect(edits[0]!.patch).toBe('--- a\n+++ a\n@@ -7 +7 @@\n-one\n+two')
    expect(lines(edits[1]!.patch)).toEqual(['-x', '+y'])
    const git = 'diff --git a/c b/c\nindex 1..2 100644\n--- a/c\n+++ b/c\n@@ -1 +1 @@\n-x\n+y\n'
    expect(only(null, { patch: git })).toEqual({ path: 'c', patch: '--- c\n+++ c\n@@ -1 +1 @@\n-x\n+y\n' })
    expect(only(null, { patch: '--- /dev/null\n+++ b/d\n@@ -0,0 +1 @@\n+y\n' }).path).toBe('d')
    expect(only(null, { patch: '--- a/e\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n' }).path).toBe('e')
  })

  it('calls that edit nothing, and malformed ones, have no edits', () => {
    for (const input of [
      null,
      'x',
      [],
      { command: 'ls' },
      { path: 'a' },
      { path: 1, content: 2 },
      { changes: [1, {}] },
    ])
      expect(fileEdits(input, { output: 'x' })).toEqual([])
    expect(fileEdits({ content: [{ type: 'diff', path: 'a' }] }, { patch: 7 })).toEqual([])
  })
})
