import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { cliFolder } from '../support/cli.ts'

const folder = cliFolder()
afterAll(() => folder.clean())
const { look, root } = folder

it('creates, lists, shows, edits, compares, blames and exports a document', async () => {
  const file = join(root, 'plan.md')
  writeFileSync(file, '# Plan\n\nFirst draft.\n')
  const made = await look('--by', 'ada', 'docs', 'create', file)
  expect([made.code, made.err]).toEqual([0, ''])
  const id = made.out.trim()
  expect((await look('docs')).out).toMatch(new RegExp(`${id} .*plan\\.md`))
  expect((await look('docs', 'show', id.slice(0, 12))).out).toBe('# Plan\n\nFirst draft.\n')

  const shown = JSON.parse((await look('-o', 'json', 'docs', 'show', id)).out)
  const { id: span, hash } = shown.blocks[1]
  const envelope = {
    doc_frontier: shown.frontier,
    client_request_id: 'r1',
    ops_xml: `<replace_spans annotation="clearer"><span span_id="${span}">Second draft.</span></replace_spans>`,
    preconditions: [{ span_id: span, if_match_context_hash: hash }],
  }
  const request = join(root, 'envelope.json')
  writeFileSync(request, JSON.stringify(envelope))
  const applied = await look('--by', 'bob', 'docs', 'edit', id, request)
  expect([applied.code, applied.out]).toEqual([0, expect.stringContaining('applied')])
  writeFileSync(request, JSON.stringify({ ...envelope, client_request_id: 'r2' }))
  const conflict = await look('docs', 'edit', id, request)
  expect([conflict.code, conflict.out]).toEqual([1, expect.stringContaining(`${span} hash_mismatch`)])

  const history = (await look('docs', 'history', id)).out
  expect(history).toMatch(/user:bob +applied r1 "clearer"/)
  expect(history).toMatch(/409 AI_PRECONDITION_FAILED r2/)
  expect((await look('docs', 'diff', id, '1', '3')).out).toBe(`changed ${span}\n- First draft.\n+ Second draft.\n`)
  const blame = (await look('docs', 'blame', id)).out
  expect(blame).toMatch(/"Second" +@3 user:bob applied r1/)
  expect(blame).toMatch(/" draft\." +@1 user:ada created/)
  expect((await look('docs', 'export', id, '--format', 'html')).out).toBe('<h1>Plan</h1><p>Second draft.</p>')
  expect((await look('docs', 'show', id, '--revision', '1')).out).toContain('First')
  const erase = ['docs', 'erase', id, '--revision', '5', '--reason', 'private']
  expect(await look(...erase)).toMatchObject({ code: 2, err: expect.stringContaining('--yes') })
  expect(await look(...erase, '--yes')).toMatchObject({ code: 0, out: expect.stringContaining('erased') })
  expect((await look('docs', 'verify', id)).out).toMatch(/^holds\n(.*\n){2} {2}revision 4 erased \(other\): private$/m)
  expect(await look('docs', 'show', 'zzz')).toMatchObject({ code: 2, err: expect.stringContaining('no document') })
}, 60_000)
