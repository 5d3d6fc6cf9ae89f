import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openKeepUp } from '../../api/index.ts'
import { keepupForAi } from '../../api/library/ai-kit.ts'
import { program, RULES } from '../support/ai/program.ts'
import { everyAppend, killedProgram } from '../support/killed-program.ts'

// kill -9 of a program of the AI SDK, at every append to its run.

const CHILD = join(import.meta.dirname, '../support/ai/child.ts')

const killed = (nth: number, side: 'before' | 'after') => killedProgram(CHILD, nth, side)

/** The start; request and answer of five models; question, intent and outcome of four tools; the end. */
const APPENDS = 1 + 5 * 2 + 4 * 3 + 1
const ALL = everyAppend(APPENDS)
// After a model's answer, between intent and outcome of an irreversible tool, and after its outcome.
const SAMPLE = ALL.filter(([nth, side]) => (nth === 3 && side === 'after') || (nth === 10 && side === 'before'))

const EFFECTS = ['model 0', 'look 42', 'model 1', 'pay 1', 'model 2', 'pay 2', 'model 3', 'look 43', 'model 4']

test('a program that is not killed has the appends that are tried here', async () => {
  const { said, lines, end, stderr } = await killed(0, 'before')
  expect([end, stderr, said]).toEqual([0, '', ['Both are paid.', `appends ${APPENDS}`]])
  expect(lines()).toEqual(EFFECTS)
})

test.each(process.env.FAULT_ALL === '1' ? ALL : SAMPLE)(
  'kill -9 at append %i, %s: the program goes on',
  async (nth, side) => {
    const { data, effects, lines, end } = await killed(nth, side)
    expect(end).toBe('SIGKILL')
    const before = lines()
    const keepup = await openKeepUp({ data })
    try {
      const k = await keepupForAi({ ...RULES, keepup })
      expect(await program(k, effects)).toBe('Both are paid.')
      await k.close()
      const { events, status } = await recordOf(keepup, k.runId)
      expect(status).toBe('completed')
      const counts = Object.groupBy(lines(), (line) => line)
      // What cannot be taken back happens at most once. A call without an outcome is unknown to the model.
      const unknown = events.filter(({ type }) => type === 'tool_call_unknown').length
      for (const pay of ['pay 1', 'pay 2']) expect(counts[pay]?.length ?? 0).toBeLessThanOrEqual(1)
      expect(unknown + (counts['pay 1']?.length ?? 0) + (counts['pay 2']?.length ?? 0)).toBeGreaterThanOrEqual(2)
      // Only the call that was at work may be made twice, and nothing else.
      const twice = Object.entries(counts).filter(([, made]) => made!.length > 1)
      expect(twice.length).toBeLessThanOrEqual(1)
      for (const [line, made] of twice) {
        expect([line, made!.length]).toEqual([before.at(-1), 2])
        expect(side).toBe('before')
      }
      // Nothing is lost: every effect is in the log.
      const answered = events.filter(({ type, payload }) => type === 'model_outcome' && payload.outcome === 'answered')
      expect(answered).toHaveLength(5)
      expect(events.filter(({ type }) => type === 'tool_call_end')).toHaveLength(4)
    } finally {
      await keepup.close()
    }
  },
)

async function recordOf(keepup: Awaited<ReturnType<typeof openKeepUp>>, runId: string) {
  const events: { readonly type: string; readonly payload: Record<string, unknown> }[] = []
  for await (const { type, payload } of keepup.follow(runId)) events.push({ type, payload: payload as never })
  const verified = await keepup.verifyRun({ id: runId })
  expect(verified.ok).toBe(true)
  return { events, status: (await keepup.run(runId))!.status }
}
