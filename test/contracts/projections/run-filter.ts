import { describe, expect, it } from 'vitest'
import type { RunFilter } from '../../../projections/agent/queries/run-filter.ts'
import { LOOKED_THROUGH, selectRuns } from '../../../projections/agent/queries/runs.ts'
import { openOn, T0, world } from '../../support/projections/family.ts'
import type { TablesKit } from '../../support/projections/kit.ts'
import { HASH, spec } from '../../support/projections/spec.ts'
import type { Actor } from '../../support/projections/story.ts'

/** A call that runs: `ran` is what makes a file touched. */
function touches(a: Actor, file: string, runs = true): void {
  a.beginTurn()
  a.answer(['write_file'], { writes: [file] })
  const call = a.calls[0]!.id
  const start = { toolName: 'write_file', index: 0, argumentsRef: a.given(0), argumentsHash: HASH, attempt: 1 }
  a.write('tool_call_start', { ...start, effect: 'pure', intent: runs }, { toolCallId: call })
  a.endCall(call, 'write_file', runs ? undefined : { code: 'PERMISSION_DENIED', message: 'no' })
  a.endTurn()
}

const by = (id: string, kind: 'user' | 'approver' = 'user') => ({ actor: { kind, id, claimed: true } as const })

/** Runs that differ in one thing each. `bob` did something about r2, r3 and r4. */
function tale() {
  const { log, actor } = world()
  const [r1, r2, r3, r4, r5] = ['r1', 'r2', 'r3', 'r4', 'r5'].map((id) => actor(id)) as [
    Actor,
    Actor,
    Actor,
    Actor,
    Actor,
  ]
  for (const a of [r1, r3, r4]) a.start()
  r2.write('agent_started', { spec: spec({ role: null }), depth: 0 }, by('bob'))
  r1.user('user_input', { text: 'Mend the 100% Broken_thing' })
  r3.user('user_input', { text: 'x' }, by('bob'))
  touches(r1, 'src/a.ts')
  touches(r3, 'src/b.ts')
  touches(r4, 'src/a.ts', false)
  r4.write(
    'approval_decided',
    { decision: 'rejected', decided: { method: 'person', policyHash: HASH }, argumentsHash: HASH },
    { ...by('bob', 'approver'), toolCallId: 'r4.t1.c0' },
  )
  r4.write('error', { error: 'ended', code: 'CANCELLED', recoverable: false })
  r5.forkFrom(r1, 1, HASH)
  return log
}

export function runFilterContract(kit: TablesKit): void {
  const open = openOn(kit)
  describe('the filters of runs', () => {
    const found = async (filter: RunFilter) => {
      return (await selectRuns(await open(tale()), filter)).runs.map((run) => run.id)
    }

    it.each<[string, RunFilter, string[]]>([
      ['role, which a fork inherits', { role: 'Coder' }, ['r5', 'r4', 'r3', 'r1']],
      ['a built-in role by the name of its request', { role: 'coder' }, ['r5', 'r4', 'r3', 'r1']],
      ['model, which a fork may change', { model: 'model-b' }, ['r5']],
      ['model', { model: 'model-a' }, ['r4', 'r3', 'r2', 'r1']],
      ['the code that it ended with', { status: 'failed', error: 'CANCELLED' }, ['r4']],
      ['money', { over: 1000 }, ['r4', 'r3', 'r1']],
      ['more money', { over: 1001 }, []],
      ['a file that a call touched, not one that was refused', { file: 'src/a.ts' }, ['r1']],
      ['a file that a call created', { file: 'a.ts' }, ['r3', 'r1']],
      ['who started it, decided, or said something', { person: 'bob' }, ['r4', 'r3', 'r2']],
      ['all of several', { person: 'bob', role: 'Coder', over: 1 }, ['r4', 'r3']],
      ['text of an input, letter by letter', { text: '100% broken_' }, ['r5', 'r1']],
      ['text of an answer', { text: 'THINKING' }, ['r4', 'r3', 'r1']],
      ['text of a path that a call names', { text: 'SRC/b' }, ['r3']],
      ['text of a tool', { text: 'write_' }, ['r4', 'r3', 'r1']],
      ['text of the message of a failed call', { text: 'no' }, ['r4']],
      ['text that is no pattern', { text: 'M_nd' }, []],
      ['a time before all', { until: new Date(T0).toISOString() }, []],
      ['a time', { since: new Date(T0).toISOString(), prefix: 'r2' }, ['r2']],
    ])('find by %s', async (_, filter, ids) => {
      expect((await found(filter)).sort().reverse()).toEqual(ids)
    })

    it('look for a text in so many runs a page, and go on after them', async () => {
      const tables = await open(tale())
      const first = await selectRuns(tables, { text: 'mend', limit: 1 })
      expect([first.runs.map((run) => run.id), first.last?.id]).toEqual([['r5'], 'r5'])
      const rest = await selectRuns(tables, { text: 'mend', limit: 1, after: first.last!.started })
      expect([rest.runs.map((run) => run.id), rest.last]).toEqual([['r1'], null])
      expect(LOOKED_THROUGH).toBe(2000)
    })
  })
}
