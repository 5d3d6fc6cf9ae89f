import { describe, expect, it, test } from 'vitest'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { listEdits } from '../../../api/operations/external/list-edits.ts'
import { fileEdits } from '../../../api/operations/external/reported-edits.ts'
import { StreamExternalLog } from '../../../domain/external/runtime/stream-log.ts'
import { MemoryBlobs, seededRandom } from '../../support/harness.ts'
import { BEFORE } from '../../support/log/sealing.ts'
import { standing } from '../../support/time/standing-clock.ts'

const only = (input: unknown, result: unknown = null) => {
  const [edit, ...others] = fileEdits(input, result)
  expect(others).toEqual([])
  const { path, patch } = edit!
  return { path, patch: typeof patch === 'function' ? patch(1_000) : patch }
}
const lines = (patch: string | null) => (patch ?? '').split('\n').filter((line) => /^[-+](?![-+])/.test(line))

test('the newest edits of an agent are listed, and a result without an id ends no call', async () => {
  const log = new MemoryLog({ clock: BEFORE })
  const ports = {
    log,
    clock: standing(Date.UTC(2026, 0, 18)),
    random: seededRandom('edits'),
    blobs: new MemoryBlobs(),
    build: 'test',
  }
  const run = await new StreamExternalLog(ports).begin(
    { kind: 'start', backend: 'fake', request: { prompt: 'go' }, capabilities: [] },
    { agentId: 'e' },
  )
  const call = (id: string, n: number) =>
    ({
      kind: 'ToolCall',
      data: { id, name: 'Edit', input: { file_path: `f${n}`, old_string: 'x', new_string: 'y' } },
    }) as const
  const calls = Array.from({ length: 1_200 }, (_, n) => call(n === 1_199 ? 'undefined' : `t${n}`, n))
  for (let first = 0; first < calls.length; first += 240)
    await run.append([{ kind: 'batch', first, events: calls.slice(first, first + 240) }])
  const nameless = { kind: 'ToolResult', data: { success: true } } as const
  await run.append([{ kind: 'batch', first: calls.length, events: [nameless] }])
  const { edits, more } = await listEdits({ log, blobs: ports.blobs } as never, 'e')
  expect([edits.length, more]).toEqual([500, true])
  expect(edits.at(-1)).toEqual({
    ...{ revision: expect.any(Number), path: 'f1199', success: null },
    patch: '--- f1199\n+++ f1199\n@@ -1,1 +1,1 @@\n-x\n+y\n',
  })
})

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

  it('a file that is too long to compare is still listed as added or removed lines', () => {
    const [long, other] = ['x\n'.repeat(60_000), 'y\n'.repeat(60_000)]
    expect(only({ file_path: 'a', content: 'x\ny' }).patch).toBe('--- a\n+++ a\n@@ -0,0 +1,2 @@\n+x\n+y\n')
    expect(only({ file_path: 'a', old_string: 'x\n', new_string: '' }).patch).toBe(
      '--- a\n+++ a\n@@ -1,1 +0,0 @@\n-x\n',
    )
    expect(lines(only({ file_path: 'a', content: long }).patch)).toHaveLength(60_000)
    const [edit] = fileEdits({ file_path: 'a', old_string: long, new_string: other }, null)
    expect((edit!.patch as (ms: number) => string | null)(1_000)).toBeNull()
    const [same] = fileEdits({ file_path: 'a', old_string: long, new_string: long }, null)
    expect(same!.patch).toBeNull()
  })

  it('the patch of the result replaces the input, and is divided by file', () => {
    const two =
      'Index: a\n====\n--- a\t1\n+++ a\t2\n@@ -7 +7 @@\n-one\n+two\nIndex: b\n====\n--- b\n+++ b\n@@ -1 +1 @@\n-x\n+y\n'
    const edits = fileEdits({ filePath: 'a', oldString: 'one', newString: 'two' }, { patch: two })
    expect(edits.map(({ path }) => path)).toEqual(['a', 'b'])
    expect(edits[0]!.patch).toBe('--- a\n+++ a\n@@ -7 +7 @@\n-one\n+two')
    expect(lines(edits[1]!.patch as string)).toEqual(['-x', '+y'])
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
