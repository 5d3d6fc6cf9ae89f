import { expect, it } from 'vitest'
import { type PackedEvents, writeAnswers } from '../../../api/operations/pack/answers.ts'
import { Problem } from '../../../api/operations/problem.ts'
import type { Services } from '../../../api/operations/services.ts'
import type { SqlResult } from '../../../api/operations/sql/auditor.ts'

const EVENTS = {
  columns: ['event', 'what'],
  rows: [
    ['agent-a@1', 'in'],
    ['agent-a@9', 'out'],
  ],
  more: false,
}
const SUMS = { columns: ['model', 'calls'], rows: [['m', 3]], more: false }
const ALL: PackedEvents = { isPart: false, has: () => true }

/** The files of a pack's answers. `answer`: by the number of the question and its SELECT. */
async function filesOf(answer: (nth: number, sql: string) => SqlResult, packed = ALL) {
  const files = new Map<string, string>()
  const slept: number[] = []
  let asked = 0
  const s = {
    read: { status: async () => ({ position: 'p' }) },
    auditor: { dialect: 'sqlite', ask: async (sql: string) => answer(asked++, sql), close: async () => undefined },
    clock: { sleep: async (ms: number) => void slept.push(ms) },
  } as unknown as Services
  const put = async (name: string, content: string | Uint8Array) => void files.set(name, String(content))
  await writeAnswers(s, { put }, packed, 'a')
  return { files, slept, names: [...files.keys()].map((name) => name.replace('answers/a/', '')) }
}

it.each(['SQL_LIMIT', 'SQL_FAILED', 'SQL_UNAVAILABLE'] as const)(
  'a question that fails with %s is named with its reason, and the others are answered',
  async (code) => {
    const { files, names } = await filesOf((nth) => {
      if (nth === 1) throw new Problem(code, 'it takes too long')
      return SUMS
    })
    expect(files.get('answers/a/absent.txt')).toMatch(/^\w+: it takes too long\n$/)
    expect(names.filter((name) => name.endsWith('.csv')).length).toBeGreaterThan(2)
  },
)

it('a question is asked again while the queue is full', async () => {
  const { files, slept } = await filesOf((nth) => {
    if (nth < 2) throw new Problem('SQL_BUSY', 'ask again later')
    return SUMS
  })
  expect([files.has('answers/a/absent.txt'), slept.length]).toEqual([false, 2])
})

it('rows have their evidence in the pack', async () => {
  const { files } = await filesOf(() => EVENTS, { isPart: false, has: (event) => event === 'agent-a@1' })
  const [name, text] = [...files].find(([name]) => name.endsWith('.csv'))!
  expect(text).toBe('event,what\r\nagent-a@1,in\r\n')
  expect(JSON.parse(files.get(name.replace('.csv', '.json'))!).rows).toEqual([['agent-a@1', 'in']])
})

it('a pack of a time has no sums, and no row without evidence', async () => {
  const part = { isPart: true, has: () => true }
  const summed = await filesOf(() => SUMS, part)
  expect([summed.names, summed.files.get('answers/a/absent.txt')]).toEqual([
    ['absent.txt'],
    expect.stringContaining('cost_by_model: its sums count events outside'),
  ])
  const { names } = await filesOf(() => ({ ...EVENTS, rows: [[null, 'none']] }), part)
  expect(names).toEqual([])
})

it('an answer that lacks rows has no CSV', async () => {
  const { files, names } = await filesOf(() => ({ ...SUMS, more: true }))
  expect(names.filter((name) => name.endsWith('.csv'))).toEqual([])
  expect(JSON.parse(files.get('answers/a/cost_by_model.json')!)).toMatchObject({ more: true, rows: SUMS.rows })
})
