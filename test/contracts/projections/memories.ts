import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { FactOwner, MemoryScope } from '../../../domain/calls/memory/request.ts'
import { queryWords } from '../../../domain/memory/rank.ts'
import { wordsOf } from '../../../domain/memory/words.ts'
import { Projector } from '../../../projections/engine/projector/projector.ts'
import { countMemories, searchMemories, selectMemories } from '../../../projections/memory/queries.ts'
import { runs } from '../../support/projections/fc.ts'
import { folded, type TablesKit } from '../../support/projections/kit.ts'
import { MemoryLog } from '../../support/projections/memory-log.ts'

const ID = '0123456789abcdefghjkmnpq'
const idOf = (scope: MemoryScope, n: number) => `${scope}-${String(n).padStart(4, '0')}${ID.slice(4)}`
const GLOBAL: FactOwner = { scope: 'global', place: '' }
const HERE: FactOwner = { scope: 'workspace', place: '/work' }

/** A log of facts, in which they are saved, corrected and forgotten. */
class Facts {
  readonly log = new MemoryLog()
  #count = 0
  save(text: string | null, where: FactOwner = GLOBAL): string {
    const id = idOf(where.scope, this.#count++)
    this.#add(id, 'fact_remembered', { ...where, text })
    return id
  }
  correct = (id: string, text: string) => this.#add(id, 'fact_corrected', { text })
  forget = (id: string) => this.#add(id, 'fact_forgotten', { reason: null })
  #add(id: string, type: string, body: object) {
    const at = this.log.events.length * 1000
    this.log.add({ stream: `memory-${id}`, type, body, runId: 'r1', at, actor: { kind: 'model', id: 'r1' } })
  }
}

async function open(kit: TablesKit, log: MemoryLog) {
  const tables = await kit.fresh()
  const store = await tables.open()
  onTestFinished(() => store.close())
  const projector = new Projector({ log, blobs: log.blobs, store })
  await projector.catchUp()
  const found = async (query: string, places: readonly FactOwner[] | null = [GLOBAL, HERE], limit = 10) =>
    (await searchMemories(tables.db, places, query, limit)).map(({ text }) => text)
  return { tables, projector, found }
}

/** Whether a text has a word as a search understands it. */
const has = (text: string, word: string) =>
  wordsOf(text).some((one) => (word.length >= 3 ? one.startsWith(word) : one === word))

const word = fc.constantFrom(
  'deploy',
  'deployment',
  'server',
  'Zürich',
  'zurich',
  'a',
  'ab',
  '東京',
  "it's",
  '@x',
  '"q"',
  '𞤀𞤁',
)
const text = fc.array(word, { minLength: 1, maxLength: 5 }).map((words) => words.join(' '))
const place = fc.constantFrom(GLOBAL, HERE, { scope: 'run', place: 'r2' } as const)

export function memoriesContract(kit: TablesKit): void {
  describe('the index of facts', () => {
    it('finds whole words and beginnings, without case and accents, the best first', async () => {
      const facts = new Facts()
      for (const text of ['The server is in Zürich', 'Deploy the server on Friday', 'Tea is at four', '東京に行く'])
        facts.save(text)
      const { found } = await open(kit, facts.log)
      expect(await found('zurich')).toEqual(['The server is in Zürich'])
      expect(await found('DEPLOY server')).toEqual(['Deploy the server on Friday', 'The server is in Zürich'])
      expect(await found('depl')).toEqual(['Deploy the server on Friday'])
      expect(await found('is')).toEqual(['Tea is at four', 'The server is in Zürich'])
      expect(await found('京')).toEqual(['東京に行く'])
      expect(await found('nothing of this')).toEqual([])
      expect(await found('', undefined, 2)).toEqual(['東京に行く', 'Tea is at four'])
    })

    it.each([
      ['operators', 'NOT port OR (port AND NEAR(port, 1)) & | ! <-> :* ^ * - + {} text:port'],
      ['quotes', `"port' \\"'" ''; drop table memories; -- port`],
      ['characters that no text holds', 'port\u0000port \ud800port\udfff port'],
      ['the word of a place', '@0123456789abcdef port'],
      ['a megabyte', `port ${'word '.repeat(200_000)}`],
      ['one word of a megabyte', `${'x'.repeat(1_000_000)} port`],
      ['as many words as there are', `port ${Array.from({ length: 50_000 }, (_, i) => `w${i}`).join(' ')}`],
    ])('takes %s in a query for words', async (_, query) => {
      const facts = new Facts()
      facts.save('the port is 80')
      facts.save('the gate is 8080', HERE)
      const { found } = await open(kit, facts.log)
      expect(await found(query, null)).toContain('the port is 80')
      expect(await found(query, [HERE])).not.toContain('the port is 80')
      expect(await found('gate')).toEqual(['the gate is 8080'])
    })

    it('keeps places apart, whatever a text says', async () => {
      const facts = new Facts()
      facts.save('the key is under the mat', HERE)
      facts.save(`@${'0'.repeat(16)} the key is lost`)
      const { found, tables } = await open(kit, facts.log)
      expect(await found('key', [HERE])).toEqual(['the key is under the mat'])
      expect(await found('key', [{ scope: 'workspace', place: '/other' }])).toEqual([])
      expect(await found('key', [])).toEqual([])
      expect(await found('key', null)).toHaveLength(2)
      expect(await countMemories(tables.db, HERE)).toBe(1)
    })

    it('follows corrections, and finds nothing that is forgotten', async () => {
      const facts = new Facts()
      const [first, second] = [facts.save('the port is 80'), facts.save('the port is 443')]
      const { found, projector, tables } = await open(kit, facts.log)
      facts.correct(first, 'the gate is 8080')
      facts.forget(second)
      await projector.catchUp()
      expect(await found('port')).toEqual([])
      expect(await found('gate')).toEqual(['the gate is 8080'])
      expect(await countMemories(tables.db, GLOBAL)).toBe(1)
      const rows = await selectMemories(tables.db, { forgotten: true, limit: 5 })
      expect(rows.map(({ id, text, words }) => [id, text, words])).toEqual([
        [second, null, null],
        [first, 'the gate is 8080', 'the gate is 8080'],
      ])
      expect(await selectMemories(tables.db, { limit: 5 })).toHaveLength(1)
    })

    it('finds exactly the facts that have one of the words, those with all of them first; made anew it is the same', async () => {
      const step = fc.tuple(fc.constantFrom('save', 'save', 'correct', 'forget'), text, place, fc.nat())
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), text, place, async (steps, query, where) => {
          const facts = new Facts()
          const held = new Map<string, { text: string; where: FactOwner }>()
          for (const [kind, said, at, which] of steps) {
            const [id, before] = [...held][which % Math.max(1, held.size)] ?? []
            if (kind === 'save' || id === undefined || before === undefined)
              held.set(facts.save(said, at), { text: said, where: at })
            else if (kind === 'forget') {
              facts.forget(id)
              held.delete(id)
            } else {
              facts.correct(id, said)
              held.set(id, { ...before, text: said })
            }
          }
          const { found, tables } = await open(kit, facts.log)
          const here = [...held.values()].filter((one) => JSON.stringify(one.where) === JSON.stringify(where))
          const asked = queryWords(query)
          const wanted = here.filter((one) => asked.length === 0 || asked.some((word) => has(one.text, word)))
          const shown = await found(query, [where], 50)
          expect([...shown].sort()).toEqual(wanted.map((one) => one.text).sort())
          const whole = shown.map((text) => asked.every((word) => has(text, word)))
          expect(whole).toEqual([...whole].sort((a, b) => Number(b) - Number(a)))
          expect(await tables.dump()).toEqual(await folded(facts.log, kit))
        }),
        runs(kit.cases(8)),
      )
    })
  })
}
