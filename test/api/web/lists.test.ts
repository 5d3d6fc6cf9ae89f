import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Refused } from '../../../api/http/answers.ts'
import type { AskView } from '../../../api/operations/approvals/schemas.ts'
import type { Run } from '../../../api/operations/runs/schemas.ts'
import { askKey, inPlace } from '../../../api/web/actions/open-questions.ts'
import { type Side, summaryRows } from '../../../api/web/compare/summary-rows.ts'
import { waysTo } from '../../../api/web/habits/equivalent-commands.ts'
import { forgetSaved, SavedList } from '../../../api/web/parts/saved-list.ts'
import { Throttle } from '../../../api/web/parts/throttle.ts'
import { namesOf, resultText, toEach } from '../../../api/web/runs/bulk.ts'
import { prependPage } from '../../../api/web/runs/filters.ts'
import { byTask, costText, tally } from '../../../api/web/runs/groups.ts'

// Lists of the page that grow and change while a person looks at them.

const seed = process.env.FC_SEED === undefined ? {} : { seed: Number(process.env.FC_SEED) }

const ask = (id: string, what: AskView['for'] = 'approval'): AskView => ({
  ...{ for: what, runId: id, agentId: id, agentPath: [], toolCallId: `${id}.t1.c0`, toolName: 'write_file' },
  ...{ arguments: {}, text: '' },
})
const ids = (asks: readonly AskView[]) => asks.map(({ agentId }) => agentId)

describe('what is asked', () => {
  it('keeps its place when another one is decided, and what is new stands at the end', () => {
    const before = [ask('a'), ask('b'), ask('c')]
    expect(ids(inPlace(before, [ask('z'), ask('a'), ask('c')]))).toEqual(['a', 'b', 'c', 'z'])
  })

  it('goes away where it is no approval and was answered', () => {
    const before = [ask('a', 'input'), ask('b'), ask('c', 'doubt')]
    expect(ids(inPlace(before, [ask('c', 'doubt')]))).toEqual(['b', 'c'])
  })

  it('never changes the order of two that are shown, whatever comes and goes, and lacks none that is open', () => {
    const some = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'))
    fc.assert(
      fc.property(fc.array(some), (rounds) => {
        let shown: readonly AskView[] = []
        for (const open of rounds) {
          const next = inPlace(
            shown,
            open.map((id) => ask(id)),
          )
          const known = new Set(shown.map(askKey))
          expect(next.filter((one) => known.has(askKey(one))).map(askKey)).toEqual(shown.map(askKey))
          expect(ids(next)).toEqual(expect.arrayContaining(open))
          expect(new Set(next.map(askKey)).size).toBe(next.length)
          shown = next
        }
      }),
      seed,
    )
  })
})

describe('a list that is looked up again', () => {
  const runs = (...names: string[]) => names.map((runId) => ({ runId }))

  it('keeps the pages that a person has scrolled to when a run begins', () => {
    const known = runs('9', '8', '7', '6', '5', '4', '3')
    expect(prependPage(runs('11', '10', '9', '8'), known)).toEqual(runs('11', '10', '9', '8', '7', '6', '5', '4', '3'))
  })

  it('begins anew where its first page has no end in common with it', () => {
    expect(prependPage(runs('99', '98'), runs('9', '8'))).toEqual(runs('99', '98'))
    expect(prependPage(runs(), runs('9', '8'))).toEqual([])
  })

  it('keeps them when a run that a filter lets through since ends its first page', () => {
    expect(prependPage(runs('9', '8', '5b'), runs('9', '8', '5', '4'))).toEqual(runs('9', '8', '5b', '5', '4'))
  })

  it('takes out a run that a filter lets through no more', () => {
    expect(prependPage(runs('9', '7', '6'), runs('9', '8', '7', '6', '5'))).toEqual(runs('9', '7', '6', '5'))
  })
})

describe('a command for several runs', () => {
  const ids = ['a', 'b', 'c', 'd']
  const textOf = (error: unknown) => (error as Error).message
  const refused = (code: string) => new Refused({ code, status: 400, detail: code })

  it('goes on after a fault, and says which runs took it', async () => {
    const command = async (id: string) => {
      if (id === 'b') throw new Error('no')
    }
    const result = await toEach({ ids, command, textOf, isStopped: () => false })
    expect(result).toEqual({ done: ['a', 'c', 'd'], faults: [['b', 'no']], stopped: null })
    expect(resultText(result, 4, 'forked')).toBe('3 of 4 runs forked. b: no. These runs stay chosen.')
  })

  it('ends at the first refusal for lack of a right, and where a person stops it', async () => {
    const sent: string[] = []
    const command = async (id: string) => {
      sent.push(id)
      if (id === 'b') throw refused('FORBIDDEN')
    }
    const forbidden = await toEach({ ids, command, textOf, isStopped: () => false })
    expect(sent).toEqual(['a', 'b'])
    expect(resultText(forbidden, 4, 'forked')).toContain('2 not tried, as the right is missing.')
    const stopped = await toEach({ ids: ['a', 'c', 'd'], command, textOf, isStopped: (tried) => tried === 1 })
    expect(stopped).toEqual({ done: ['a'], faults: [], stopped: 'person' })
    expect(resultText(stopped, 3, 'forked')).toBe('1 of 3 runs forked. 2 not tried. These runs stay chosen.')
  })

  it('names ten faults at most, and five runs', () => {
    const faults = Array.from({ length: 12 }, (_, n) => [String(n), 'no'] as const)
    const text = resultText({ done: [], faults, stopped: null }, 12, 'forked')
    expect([text.match(/: no/g)?.length, text.includes('and 2 more faults')]).toEqual([10, true])
    const runs = ids.concat('e', 'f', 'g').map((runId) => ({ runId, task: `do ${runId}` }))
    expect(namesOf(runs)).toBe('“do a” (a), “do b” (b), “do c” (c), “do d” (d), “do e” (e) and 2 more')
  })
})

describe('runs grouped by task', () => {
  const run = (runId: string, task: string | null, nanoDollars = 1) => ({
    runId,
    task,
    total: { nanoDollars } as never,
  })
  const runs = [run('1', 'a'), run('2', 'b'), run('3', null), run('4', 'a'), run('5', null)]
  const told = (isOpen: boolean) =>
    byTask(runs, () => isOpen).map((line) =>
      line.run === undefined ? `${line.group.task} (${line.group.runs.length})` : line.run.runId,
    )

  it('have one head a task, where its first run stood; a lone run and runs without a task have none', () => {
    expect(told(false)).toEqual(['a (2)', '2', '3', '5'])
  })

  it('stand below the head of an open group', () => {
    expect(told(true)).toEqual(['a (2)', '1', '4', '2', '3', '5'])
    expect(byTask(runs, () => true).map(({ run, ...line }) => run && 'inside' in line && line.inside)).toEqual([
      undefined,
      true,
      true,
      false,
      false,
      false,
    ])
  })

  it('are counted by their status, and their costs are added', () => {
    expect(tally(['failed', 'done', 'done'])).toBe('2 done, 1 failed')
    const costs = (...costs: (number | null)[]) =>
      costText(costs.map((cost, n) => ({ ...run(String(n), 'a'), total: { nanoDollars: cost } as never })))
    expect(costs(5e7, 7e7)).toBe('$0.1200')
    expect(costs(5e7, null)).toBe('at least $0.0500')
    expect(costs(null, null)).toBe('?')
  })
})

describe('work that changes ask for', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('is done while changes come without a rest', async () => {
    let done = 0
    const throttle = new Throttle(() => done++, 200)
    for (let i = 0; i < 100; i++) {
      throttle.request()
      await vi.advanceTimersByTimeAsync(50)
    }
    expect(done).toBe(25)
  })

  it('is never done twice at once, and once more for a change that came meanwhile', async () => {
    const ends: (() => void)[] = []
    const throttle = new Throttle(() => new Promise<void>((resolve) => ends.push(resolve)), 10)
    throttle.request()
    await vi.advanceTimersByTimeAsync(10)
    throttle.request()
    throttle.request()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(ends.length).toBe(1)
    ends[0]!()
    await vi.advanceTimersByTimeAsync(10)
    expect(ends.length).toBe(2)
    ends[1]!()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(ends.length).toBe(2)
  })

  it('is left when its screen is gone', async () => {
    let done = 0
    const throttle = new Throttle(() => done++, 10)
    throttle.request()
    throttle.stop()
    throttle.request()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(done).toBe(0)
  })
})

describe('a list that a browser saves', () => {
  class Store extends Map<string, string> {
    isFull = false
    readonly getItem = (key: string) => this.get(key) ?? null
    readonly key = (n: number) => [...this.keys()][n] ?? null
    readonly removeItem = (key: string) => void this.delete(key)
    get length(): number {
      return this.size
    }
    setItem(key: string, text: string): void {
      if (this.isFull) throw new Error('full')
      this.set(key, text)
    }
  }
  const isText = (found: unknown): found is string => typeof found === 'string'
  const listOf = (store: Store, person: string) => new SavedList('views', isText, store, () => person)
  const names = (list: SavedList<string>) => list.items.value.map(({ name }) => name)

  it('loses nothing that another tab saved', () => {
    const store = new Store()
    const [one, other] = [listOf(store, 'ada'), listOf(store, 'ada')]
    one.put('a', '1')
    expect(names(other)).toEqual(['a'])
    one.put('b', '2')
    other.put('c', '3')
    one.reload()
    expect(names(one)).toEqual(['a', 'b', 'c'])
    other.remove('a')
    one.reload()
    expect(names(one)).toEqual(['b', 'c'])
  })

  it('is that of one person, and is removed with the session of this person', () => {
    const store = new Store()
    const [ada, adaB] = [listOf(store, 'ada'), listOf(store, 'ada b')]
    ada.put('a', '1')
    adaB.put('b', '2')
    forgetSaved('ada', store)
    ada.reload()
    expect([names(ada), names(adaB)]).toEqual([[], ['b']])
  })

  it('keeps its values where the storage is full, and ignores unusable ones', () => {
    const store = new Store()
    const list = listOf(store, 'ada')
    list.put('a', '1')
    store.isFull = true
    expect(() => list.put('b', '2')).toThrow('full')
    expect(names(list)).toEqual(['a'])
    store.set('keepup-saved ada views', '{')
    list.reload()
    expect(names(list)).toEqual([])
  })
})

describe('the summary of two runs', () => {
  const change = (...paths: string[]) => paths.map((path) => ({ path, change: 'modified' as const }))
  const side = (files: Side['files'], nanoDollars: number | null = 1): Side => ({
    files,
    run: { ...{ task: 't', createdAt: '', updatedAt: '' }, total: { nanoDollars, toolCalls: 0 } } as unknown as Run,
  })
  const likeness = (title: string, ...sides: Parameters<typeof summaryRows>) =>
    summaryRows(...sides).find((row) => row.title === title)!.likeness
  const many = Array.from({ length: 20 }, (_, n) => `f${n}`)

  it.each([
    ['the same contents', change('f'), change('f'), change('other'), 'same'],
    ['other contents', change('f'), change('f'), change('f'), 'differs'],
    ['contents that could not be compared', change('f'), change('f'), null, 'unknown'],
    ['other files behind the first ones', change(...many, 'x'), change(...many, 'y'), [], 'differs'],
    ['files that could not be read', { fault: 'gone' }, { fault: 'gone' }, null, 'unknown'],
    ['no versions of files', null, null, null, 'unknown'],
  ] as const)('says of %s whether they differ', (_, a, b, between, expected) => {
    expect(likeness('Files', side(a), side(b), between)).toBe(expected)
  })

  it('does not call costs the same that are not known', () => {
    expect(likeness('Cost', side(null, null), side(null, null), null)).toBe('unknown')
    expect(likeness('Cost', side(null, 1), side(null, 2), null)).toBe('differs')
  })
})

describe('the commands for a list of runs', () => {
  it.each(['waiting=people', 'error=MODEL_FAILED'])('leave out keepup where it has no option for %s', (filter) => {
    const ways = waysTo(new URL(`http://127.0.0.1:7433/?role=coder&${filter}`))
    expect([ways.keepup, ways.curl.includes(filter)]).toEqual([null, true])
    expect(waysTo(new URL('http://127.0.0.1:7433/?role=coder')).keepup).toBe('keepup runs list --role coder')
  })
})
