import { describe, expect, it } from 'vitest'
import { searchFiles } from '../../../projections/agent/queries/files.ts'
import { selectRuns } from '../../../projections/agent/queries/runs.ts'
import {
  BYTES_EXAMINED,
  newestTexts,
  type Searched,
  searchTexts,
  type TextPlace,
} from '../../../projections/agent/queries/texts.ts'
import { listTags, notesOf } from '../../../projections/annotation/queries.ts'
import { openOn, T0, world } from '../../support/projections/family.ts'
import { folded, type TablesKit } from '../../support/projections/kit.ts'
import { HASH } from '../../support/projections/spec.ts'

/** A run with an input, an answer with the arguments of a call, its output, a message and an end. */
function tale() {
  const { log, actor } = world()
  const run = actor('r1')
  run.start()
  run.user('user_input', { text: 'Find the 100% Walrus_file' })
  run.beginTurn()
  run.answer(['write_file'], {
    text: '{"path":"src/walrus.ts","content":"let walrus = \\"big\\""}',
    writes: ['src/walrus.ts'],
  })
  const call = run.calls[0]!.id
  run.write(
    'tool_call_start',
    {
      toolName: 'write_file',
      index: 0,
      argumentsRef: run.given(0),
      argumentsHash: HASH,
      attempt: 1,
      effect: 'pure',
      intent: true,
    },
    { toolCallId: call },
  )
  run.endCall(call, 'write_file', { code: 'EXECUTION_FAILED', message: 'the walrus slept' })
  run.write('message_sent', { to: 'user:ann', type: 'event', payload: { text: ['a walrus'] } })
  run.endTurn()
  run.finish('completion')
  return { log, actor, run }
}

const noteOn = (log: ReturnType<typeof world>['log'], run: string, type: string, body: object) =>
  log.add({ stream: `annotation-${run}`, type, body, runId: run, at: T0 + 1e6, actor: { kind: 'user', id: 'ann' } })

export function textsContract(kit: TablesKit): void {
  const open = openOn(kit)

  describe('the search in texts of runs', () => {
    it.each([
      ['an input', 'walrus_FILE', [['input', null]]],
      ['an answer', 'THINKING', [['answer', null]]],
      ['arguments', 'walrus.ts', [['arguments', 'r1.t1.c0']]],
      ['arguments as they were meant, without escapes', 'walrus = "big"', [['arguments', 'r1.t1.c0']]],
      ['an output', 'slept', [['output', 'r1.t1.c0']]],
      ['a message', 'a walrus', [['message', null]]],
      ['an end', 'done', [['end', null]]],
      [
        'several, the newest first',
        'walrus',
        [
          ['message', null],
          ['output', 'r1.t1.c0'],
          ['arguments', 'r1.t1.c0'],
          ['input', null],
        ],
      ],
      ['nothing where a wildcard would match', 'w%s', []],
      ['nothing where a wildcard for one letter would match', 'w_lrus', []],
      ['nothing where a backslash would escape', '100\\%', []],
    ])('finds %s', async (_, text, found) => {
      const page = await searchTexts(await open(tale().log), { text, limit: 10 })
      expect([page.found.map(({ kind, tool_call_id }) => [kind, tool_call_id]), page.next]).toEqual([found, null])
    })

    it('finds every text once, page by page, and only those of the run', async () => {
      const { log, actor } = tale()
      const other = actor('r2')
      other.start()
      for (let n = 0; n < 5; n++) other.user('user_input', { text: `walrus ${n}` })
      const db = await open(log)
      const all = (await searchTexts(db, { text: 'walrus', limit: 100 })).found
      expect(all).toHaveLength(9)
      for (const limit of [1, 2, 3, 8, 9]) {
        const pages: string[] = []
        let before: number | undefined
        for (let next: TextPlace | null | undefined; next !== null; before = next?.position) {
          const page = await searchTexts(db, { text: 'walrus', limit, before })
          pages.push(...page.found.map(({ text }) => text))
          next = page.next
        }
        expect(pages).toEqual(all.map(({ text }) => text))
      }
      const of = async (asked: Partial<Searched>) =>
        (await searchTexts(db, { text: 'walrus', limit: 100, ...asked })).found.map(({ run_id }) => run_id)
      expect(await of({ runId: 'r2' })).toEqual(['r2', 'r2', 'r2', 'r2', 'r2'])
      expect(await of({ runId: 'r3' })).toEqual([])
      const { found: newest } = await newestTexts(db, ['r1', 'r2', 'r3'], 'walrus')
      expect([...newest].map(([id, { text }]) => [id, text]).sort()).toEqual([
        ['r1', 'text: a walrus'],
        ['r2', 'walrus 4'],
      ])
      expect(await searchFiles(db, { text: 'WALRUS', limit: 5 })).toEqual([{ path: 'src/walrus.ts', runs: 1 }])
    })

    it('has all texts of an event on one page, also beyond the limit', async () => {
      const { log, actor } = world()
      const run = actor('r1')
      run.start()
      run.user('user_input', { text: 'walrus first' })
      run.beginTurn()
      run.answer(['write_file', 'write_file', 'write_file'], { text: '{"path":"walrus.ts"}', writes: ['walrus.ts'] })
      const db = await open(log)
      const first = await searchTexts(db, { text: 'walrus', limit: 1 })
      expect(first.found.map(({ kind }) => kind)).toEqual(['arguments', 'arguments', 'arguments'])
      const rest = await searchTexts(db, { text: 'walrus', limit: 1, before: first.next!.position })
      expect([rest.found.map(({ text }) => text), rest.next]).toEqual([['walrus first'], null])
    })

    it('ends a page after so many bytes, and goes on after them', async () => {
      const { log, actor } = world()
      const text = 'x'.repeat(64 * 1024)
      for (const id of ['r1', 'r2']) {
        const run = actor(id)
        run.start()
        run.user('user_input', { text: `walrus of ${id}` })
        for (let bytes = 0; bytes < 0.6 * BYTES_EXAMINED; bytes += text.length) run.user('user_input', { text })
      }
      const db = await open(log)
      const first = await searchTexts(db, { text: 'walrus of r1', limit: 10 })
      expect([first.found, first.next]).toEqual([[], expect.objectContaining({ agent_id: 'r1' })])
      const rest = await searchTexts(db, { text: 'walrus of r1', limit: 10, before: first.next!.position })
      expect([rest.found.length, rest.next]).toEqual([1, null])
      const runs = await selectRuns(db, { text: 'walrus of r1' })
      expect([runs.runs.map(({ id }) => id), runs.last]).toEqual([['r1'], null])
      expect(runs.matches.get('r1')?.text).toBe('walrus of r1')
    })

    it('finds nothing of an erased run, and the tables equal those of a rebuild', async () => {
      const { log, run } = tale()
      run.eraseAll()
      const db = await open(log)
      expect((await searchTexts(db, { text: 'walrus', limit: 10 })).found).toEqual([])
      expect((await selectRuns(db, { text: 'walrus' })).runs).toEqual([])
      expect((await folded(log, kit)).run_texts).toEqual([])
    })
  })

  describe('the tags and notes of runs', () => {
    it('find runs, and are gone when they are removed', async () => {
      const { log } = tale()
      noteOn(log, 'r1', 'tag_added', { tag: 'release' })
      noteOn(log, 'r1', 'tag_added', { tag: 'gone' })
      noteOn(log, 'r1', 'note_added', { text: 'Looks 50% right' })
      noteOn(log, 'r1', 'note_added', { text: 'removed' })
      noteOn(log, 'r1', 'tag_removed', { added: 1 })
      noteOn(log, 'r1', 'note_removed', { added: 3 })
      const db = await open(log)
      const runs = async (filter: object) => (await selectRuns(db, filter)).runs.map(({ id, tags }) => [id, tags])
      expect(await runs({ tag: 'release' })).toEqual([['r1', ['release']]])
      expect(await runs({ tag: 'gone' })).toEqual([])
      expect(await runs({ text: 'looks 50%' })).toEqual([['r1', ['release']]])
      expect(await runs({ text: 'RELEASE' })).toEqual([['r1', ['release']]])
      expect((await notesOf(db, 'r1')).map(({ revision, text, by }) => [revision, text, by])).toEqual([
        [2, 'Looks 50% right', 'user:ann'],
      ])
      expect(await listTags(db, 10)).toEqual([{ tag: 'release', runs: 1 }])
    })
  })
}
