import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { briefOf } from '../../../api/operations/events/brief.ts'
import { daysOf, modelsByDay } from '../../../api/web/numbers/days.ts'
import { shown } from '../../../api/web/parts/shown.ts'
import { after, Outline, parsePosition } from '../../../api/web/run/outline.ts'
import { linkToCall, writerOf, writerOfCall } from '../../../api/web/run/writers.ts'
import { askOf, filtersIn, moveSelection, peopleFirst } from '../../../api/web/runs/filters.ts'

// What the page knows and decides without a browser.

const seed = process.env.FC_SEED === undefined ? {} : { seed: Number(process.env.FC_SEED) }

/** A turn with one call of a tool, as a stream holds it. */
const TURN = ['turn_start', 'model_call_start', 'model_call_end', 'tool_call_start', 'tool_call_end', 'turn_end']
const rowsOf = (turns: number) => [
  { type: 'agent_started', turn: 0, call: -1 },
  ...Array.from({ length: turns }, (_, i) =>
    TURN.map((type) => ({ type, turn: i + 1, call: type.startsWith('tool') ? 0 : -1 })),
  ).flat(),
]

function partOf(rows: ReturnType<typeof rowsOf>, from: number, to = rows.length, step = 0, failed: number[] = []) {
  const part = rows.slice(from, to)
  const names = [...new Set(part.map(({ type }) => type))]
  const inherited = step === 0 ? null : { agentId: 'source', revision: 9, step }
  return {
    ...{ from, inherited, names },
    types: part.map(({ type }) => names.indexOf(type)),
    turns: part.map(({ turn }) => turn),
    times: part.map((_, i) => (from + i) * 10),
    calls: part.map(({ call }) => call),
    sizes: part.map(() => 1),
    failed: failed.filter((at) => at >= from && at < to),
  }
}

describe('an outline', () => {
  it('is the same, however its parts come, overlap or are repeated; a gap is told', () => {
    const rows = rowsOf(5)
    const whole = new Outline()
    whole.add(partOf(rows, 0))
    const part = fc.tuple(fc.nat(rows.length), fc.nat(rows.length))
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const outline = new Outline()
        for (const [from, length] of parts) {
          const before = outline.length
          expect(outline.add(partOf(rows, from, from + length))).toBe(from <= before)
          expect(outline.length).toBe(from > before ? before : Math.max(before, Math.min(rows.length, from + length)))
        }
        outline.add(partOf(rows, outline.length))
        expect(JSON.stringify(outline)).toBe(JSON.stringify(whole))
      }),
      seed,
    )
  })

  it('counts steps and turns as the log does, those of a fork from its source on', () => {
    const outline = new Outline()
    outline.add(partOf(rowsOf(2), 0, undefined, 7))
    expect(outline.steps).toEqual([7, 7, 7, 7, 7, 8, 9, 9, 9, 9, 9, 10, 11])
    expect(outline.turns).toEqual([0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2])
    expect(outline.work).toEqual([
      { kind: 'model', turn: 1, from: 2, to: 3, failed: false },
      { kind: 'tool', turn: 1, from: 4, to: 5, failed: false },
      { kind: 'model', turn: 2, from: 8, to: 9, failed: false },
      { kind: 'tool', turn: 2, from: 10, to: 11, failed: false },
    ])
  })

  it('marks the calls whose ends failed, and lost attempts of the model, however the parts come', () => {
    const rows = [
      ...rowsOf(2),
      { type: 'model_call_start', turn: 3, call: -1 },
      { type: 'model_attempt_lost', turn: 3, call: -1 },
    ]
    fc.assert(
      fc.property(fc.nat(rows.length), (cut) => {
        const outline = new Outline()
        for (const [from, to] of [
          [0, cut],
          [Math.max(0, cut - 2), rows.length],
        ] as const)
          outline.add(partOf(rows, from, to, 0, [11]))
        expect(outline.work.map(({ failed }) => failed)).toEqual([false, false, false, true, true])
      }),
      seed,
    )
  })

  it('is walked by events, steps and turns, and never left', () => {
    const outline = new Outline()
    outline.add(partOf(rowsOf(3), 0))
    const walk = (from: number, by: number, what: 'event' | 'step' | 'turn') => outline.moved(from, by, what)
    expect([walk(0, 1, 'step'), walk(5, 1, 'step'), walk(6, 1, 'step')]).toEqual([5, 6, 11])
    expect([walk(6, -1, 'step'), walk(5, -1, 'step'), walk(9, -1, 'step')]).toEqual([5, 0, 6])
    expect([walk(0, 1, 'turn'), walk(1, 1, 'turn'), walk(13, 1, 'turn')]).toEqual([1, 7, 18])
    expect([walk(9, -1, 'turn'), walk(7, -1, 'turn'), walk(1, -1, 'turn')]).toEqual([7, 1, 0])
    expect([walk(0, -1, 'event'), walk(18, 1, 'event')]).toEqual([0, 18])
    const step = fc.tuple(fc.nat(18), fc.constantFrom(-1, 1), fc.constantFrom('event', 'step', 'turn'))
    fc.assert(
      fc.property(step, ([from, by, what]) => {
        const to = outline.moved(from, by, what as 'step')
        expect(to).toBeGreaterThanOrEqual(0)
        expect(to).toBeLessThan(outline.length)
        expect(by > 0 ? to >= from : to <= from).toBe(true)
      }),
      seed,
    )
  })

  it('finds what a person types', () => {
    const outline = new Outline()
    outline.add(partOf(rowsOf(3), 0))
    const typed = ['7', '#7', 's1', ' S 2 ', 's0', 't2', 't99', '999', 'end', '', 'x', '-1', 's', '1.5']
    expect(typed.map((text) => parsePosition(outline, text))).toEqual([
      ...[7, 7, 5, 6, 0, 7, 13, 18, 'end'],
      ...[null, null, null, null, null],
    ])
  })

  it('tells the last event up to a place that wrote something, as a look at every event before it does', () => {
    const outline = new Outline()
    outline.add(partOf(rowsOf(4), 0))
    const wrote = { turn: ['turn_start'], step: ['tool_call_end', 'turn_end'], money: ['model_call_end'] } as const
    const what = fc.constantFrom('turn', 'step', 'money')
    fc.assert(
      fc.property(what, fc.nat(outline.length - 1), (name, place) => {
        const expected = outline.types.findLastIndex((type, at) => at <= place && wrote[name].includes(type as never))
        expect(writerOf(outline, name, place)).toBe(expected < 0 ? null : expected)
      }),
      seed,
    )
    expect([writerOf(outline, 'phase', 20), writerOf(outline, 'error', 20)]).toEqual([0, null])
  })

  it('finds the event that ended a call, or asked for it, and no later one', () => {
    const outline = new Outline()
    outline.add(partOf(rowsOf(3), 0))
    expect([3, 4, 5, 18].map((place) => writerOfCall(outline, 'a.t1.c0', place))).toEqual([null, 4, 5, 5])
    expect(['a.t2.c0', 'a.t2.c1', 'a.t9.c0', 'a'].map((id) => writerOfCall(outline, id, 18))).toEqual([
      11,
      null,
      null,
      null,
    ])
    expect(linkToCall('a', 'a.t2.c0')).toBe('/runs/a?call=a.t2.c0')
    expect(linkToCall('a', 'b.t2.c0')).toBe('/runs/a?call=b.t2.c0&agent=b')
  })

  it('counts numbers up to a value', () => {
    const sorted = fc.array(fc.nat(50)).map((all) => all.sort((a, b) => a - b))
    fc.assert(
      fc.property(sorted, fc.nat(60), (all, value) => {
        expect(after(all, value)).toBe(all.filter((one) => one <= value).length)
      }),
      seed,
    )
  })
})

describe('the list of runs', () => {
  const run = (runId: string) => ({ runId })

  it('has those that wait for people first, and each once', () => {
    expect(peopleFirst([run('b')], [run('a'), run('b'), run('c')])).toEqual([run('b'), run('a'), run('c')])
  })

  it('takes its filters from an address, and no other member', () => {
    expect(filtersIn(new URLSearchParams('status=failed&text=&at=3&over=1'))).toEqual({ status: 'failed', over: '1' })
  })

  it('is walked and not left', () => {
    const ids = ['a', 'b', 'c']
    expect([
      moveSelection(ids, null, 1),
      moveSelection(ids, 'a', 1),
      moveSelection(ids, 'c', 1),
      moveSelection(ids, 'a', -1),
    ]).toEqual([...['a', 'b', 'c', 'a']])
    expect([moveSelection([], 'a', 1), moveSelection(ids, 'gone', 1)]).toEqual([null, 'a'])
  })

  it('names what waits for a person, and nothing that goes on by itself', () => {
    expect(askOf([{ for: 'pause' }, { for: 'approval' }])).toBe('approval')
    expect(askOf([{ for: 'model' }, { for: 'pause' }])).toBeNull()
  })
})

describe('foreign text', () => {
  it('is shown without what colours a terminal, and with what would be hidden', () => {
    expect(shown('\u001b[31mred\u001b[0m \u001b]8;;http://x\u0007link\u001b]8;;\u0007')).toBe('red link')
    expect(shown('a\u202Eb\u200Bc\u0007')).toBe('a‹U+202E›b‹U+200B›c‹U+0007›')
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0x10ffff })), (points) => {
        const text = String.fromCodePoint(...points)
        expect(shown(text)).not.toMatch(/[\p{Bidi_Control}\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/u)
      }),
      seed,
    )
  })
})

describe('a brief view of an event', () => {
  it('is bounded, says that it was cut, and is the view itself where nothing was', () => {
    const view = (payload: unknown) => ({ type: 'x', payload }) as never as Parameters<typeof briefOf>[0]
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        expect(briefOf(view({ value }))).toEqual(view({ value }))
      }),
      seed,
    )
    let deep: unknown = 'x'
    for (let i = 0; i < 50; i++) deep = [deep]
    for (const huge of ['y'.repeat(1e6), Array(1e5).fill(1), { ['k'.repeat(1e5)]: 1 }, deep]) {
      const brief = briefOf(view({ huge }))
      expect(brief.cut).toBe(true)
      expect(JSON.stringify(brief).length).toBeLessThan(5_000)
    }
  })
})

it('days without anything are shown too, the last ones where there are many', () => {
  const cost = (day: string) => ({
    name: day,
    inputTokens: 1,
    cacheReadTokens: 2,
    cacheWriteTokens: 3,
    outputTokens: 4,
    nanoDollars: 5,
  })
  const rows = ['2026-01-01', '2026-01-04', ''].map(cost) as never
  const none = { modelDays: [], toolDays: [], runDays: [] }
  expect(daysOf({ rows }, none).map(({ day, inputTokens }) => [day, inputTokens])).toEqual([
    ['2026-01-01', 6],
    ['2026-01-02', 0],
    ['2026-01-03', 0],
    ['2026-01-04', 6],
  ])
  expect(daysOf({ rows }, none, 2).map(({ day }) => day)).toEqual(['2026-01-03', '2026-01-04'])
  expect(daysOf({ rows: [] }, none)).toEqual([])
})

it('the cost of a day is that of its models: the dearest ones by name, all others together', () => {
  const days = [{ day: '2026-01-01' }, { day: '2026-01-02' }]
  const cost = (name: string, dollars: number) => ({ name, nanoDollars: dollars * 1e9 })
  const two = [cost('2026-01-01 small', 1), cost('2026-01-02 large', 4), cost('2026-01-02 small', 2)]
  expect(modelsByDay(two as never, days)).toEqual([
    { model: 'large', dollars: [0, 4] },
    { model: 'small', dollars: [1, 2] },
  ])
  // Names of models may have spaces; a day outside the chart is left out.
  const many = Array.from({ length: 8 }, (_, nth) => cost(`2026-01-01 own:model ${nth}`, 8 - nth))
  const shown = modelsByDay([...many, cost('2025-12-31 own:model 0', 100)] as never, days)
  expect(shown.map(({ model }) => model)).toEqual([
    ...['own:model 0', 'own:model 1', 'own:model 2', 'own:model 3', 'own:model 4', 'other models'],
  ])
  expect(shown.at(-1)!.dollars).toEqual([3 + 2 + 1, 0])
})
