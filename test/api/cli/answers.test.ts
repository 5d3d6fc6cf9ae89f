// @module-tag git
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { days, eventRow } from '../../../api/cli/output/event-row.ts'
import { telling } from '../../../api/cli/output/state-text.ts'
import type { EventView } from '../../../api/operations/events/schemas.ts'
import { cliFolder, idIn } from '../support/cli.ts'

describe('answers of commands', { timeout: 60_000 }, () => {
  const folder = cliFolder()
  afterAll(() => folder.clean())
  const asking = async (workspace: string) =>
    idIn((await folder.look('run', 'write it', '-w', workspace, '--tools', 'write_file')).err)

  it('approve says that it is approved, and with --resume goes on', async () => {
    const [id, workspace] = [await asking(folder.workspace()), folder.workspace()]
    const approved = await folder.look('approve', `${id}.t1.c0`)
    expect([approved.code, approved.out]).toEqual([
      0,
      expect.stringMatching(new RegExp(`^approved ${id}.t1.c0; recorded ${id} at revision \\d+\n$`)),
    ])
    const other = await asking(workspace)
    const resumed = await folder.look('approve', `${other}.t1.c0`, '--resume')
    expect([resumed.code, resumed.out]).toEqual([0, 'write approved\n'])
    expect(resumed.err).toContain(`approved ${other}.t1.c0`)
    expect(existsSync(join(workspace, 'hello.txt'))).toBe(true)
    const rejected = await folder.look('reject', `${await asking(folder.workspace())}.t1.c0`, '--resume')
    expect(rejected.out).toBe('write rejected\n')
  })

  it('a decision shows who made it, also when what was said is erased', async () => {
    const id = await asking(folder.workspace())
    await folder.look('approve', `${id}.t1.c0`, '--by', 'bob', '--resume')
    await folder.look('erase', id, '--all', '--reason', 'private', '--yes')
    const { out } = await folder.look('events', id)
    expect(out).toMatch(/ approval_decided +by bob: \(erased\)$/m)
  })

  it('a difference leaves out what only the program cares for', async () => {
    const id = await asking(folder.workspace())
    await folder.look('approve', `${id}.t1.c0`, '--resume')
    const { out } = await folder.look('diff', id, '0', '2')
    const state = out.slice(0, out.indexOf('Messages'))
    expect(state.match(/^ {2}\/[^:]+/gm)?.map((path) => path.trim())).toEqual([
      ...['/machineState', '/step', '/turn', '/usage/inputTokens', '/usage/outputTokens'],
    ])
    expect(telling({ path: '/unreadable' })).toBe(true)
  })
})

it('a day stands on a line of its own where it is another one', () => {
  const dayOf = days('2026-11-02T10:00:00.000Z')
  const times = [
    '2026-11-01T23:59:59.000Z',
    '2026-11-01T23:59:59.999Z',
    '2026-11-02T00:00:00.000Z',
    '2026-11-02T01:00:00Z',
  ]
  expect(times.map((timestamp) => dayOf({ timestamp }))).toEqual(['2026-11-01', null, '2026-11-02', null])
  expect(days('2026-11-01T00:00:00.000Z')({ timestamp: times[0]! })).toBeNull()
  const erased = { actor: { kind: 'approver', id: 'bob' }, payload: null, type: 'approval_decided', turn: 0 }
  const event = { ...erased, stream: 'agent-a', runId: 'a', revision: 3, timestamp: times[0] } as unknown as EventView
  expect(eventRow(event, false)).toMatch(/by bob: \(erased\)$/)
})
