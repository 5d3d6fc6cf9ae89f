// @module-tag git
import { afterAll, expect, it } from 'vitest'
import { openKeepUp } from '../../../api/library/open-keepup.ts'
import { cliFolder } from '../support/cli.ts'

const folder = cliFolder()
afterAll(() => folder.clean())
const { look, data } = folder

const write = { tool: 'write_file', arguments: { path: 'a.txt', content: 'a' } }
const scripts = { write: { script: 1 as const, turns: [{ calls: [write] }] } }

it('says how many people have approved a call, when, and no longer asks about a decided one', async () => {
  const keepup = await openKeepUp({ data, by: 'ann', scripts })
  const policy = { approvers: [{ tools: ['write_file'], count: 2 }] }
  const { runId } = await keepup.start({ task: 'go', model: 'scripted:write', workspace: folder.workspace(), policy })
  await keepup.drive(runId)
  await keepup.close()
  const call = `${runId}.t1.c0`
  const asked = (await look('approve', call, '--dry-run')).out
  expect(asked).toMatch(/^write_file asks.*0 of 2 approvals/)
  expect(asked).toContain('\nnext: ')
  const first = await look('approve', call, '--by', 'ada')
  expect([first.code, first.err]).toEqual([0, expect.stringContaining('1 of 2 people approved; one more is needed')])
  const second = await look('approve', call, '--by', 'bob')
  expect([second.code, second.err]).toEqual([0, expect.not.stringContaining('people approved')])

  const decided = (await look('approve', call, '--dry-run')).out
  expect(decided).toMatch(/^write_file asked.*; approved by bob\n/)
  expect(decided).not.toContain('next: ')
  const [, at] = /ada \((\S+Z)\) approver:bob/.exec((await look('decisions', runId)).out) ?? []
  expect(at).toBeDefined()
  expect((await look('access', 'report', runId)).out).toContain(`before the last one: approver:ada ${at}`)
}, 90_000)
