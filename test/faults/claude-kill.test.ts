import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openKeepUp } from '../../api/index.ts'
import { keepupForClaude } from '../../api/library/claude-kit.ts'
import { KEY, scriptedSession, TURNS } from '../support/claude/scripted-session.ts'
import { everyAppend, killedProgram } from '../support/killed-program.ts'

// kill -9 of a session of the Claude Agent SDK, at every append to its run.

const CHILD = join(import.meta.dirname, '../support/claude/child.ts')

/** The start and the id of the session; entry, question, intent, outcome and entry of five turns. */
const APPENDS = 2 + TURNS * 5
const ALL = everyAppend(APPENDS)
// Between intent and outcome of a tool, and before an entry.
const SAMPLE = ALL.filter(([nth, side]) => (nth === 5 && side === 'after') || (nth === 7 && side === 'before'))

test('a session that is not killed has the appends that are tried here', async () => {
  const { said, lines, end, stderr } = await killedProgram(CHILD, 0, 'before')
  expect([end, stderr, said]).toEqual([0, '', [`appends ${APPENDS}`]])
  expect(lines()).toEqual(Array.from({ length: TURNS }, (_, n) => `pay ${n}`))
})

test.each(process.env.FAULT_ALL === '1' ? ALL : SAMPLE)(
  'kill -9 at append %i, %s: the session goes on',
  async (nth, side) => {
    const { data, effects, lines, end } = await killedProgram(CHILD, nth, side)
    expect(end).toBe('SIGKILL')
    const keepup = await openKeepUp({ data })
    try {
      const k = await keepupForClaude({ keepup })
      await scriptedSession(k, effects)
      const uuids = (await k.sessionStore.load(KEY))!.map(({ uuid }) => uuid)
      expect(uuids).toEqual(Array.from({ length: TURNS * 2 }, (_, n) => `e-${n}`))
      const runId = await k.runOf(KEY)
      const { events } = await keepup.listRunEvents({ id: runId, limit: 500 })
      expect(events.map(({ type }) => type)).not.toContain('mirror_gap')
      // No tool runs twice. One that may have run is unknown, and every call has its end.
      expect(lines()).toEqual([...new Set(lines())])
      const unknown = events.filter(({ type }) => type === 'tool_call_unknown').length
      expect(lines().length + unknown).toBeGreaterThanOrEqual(TURNS)
      const ends = events.filter(({ type }) => type === 'tool_call_end')
      expect(ends).toHaveLength(events.filter(({ type }) => type === 'tool_call_requested').length)
      expect(await keepup.verifyRun({ id: runId })).toMatchObject({ ok: true })
      await k.close()
    } finally {
      await keepup.close()
    }
  },
)
