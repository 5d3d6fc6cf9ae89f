import fc from 'fast-check'
import { LoroDoc } from 'loro-crdt'
import { expect, it } from 'vitest'
import { PersonReplica } from '../../../adapters/loro/person-replica.ts'
import type { BlockContent, DocumentBlock, TextContent } from '../../../domain/document/model/block.ts'
import { mergedRuns } from '../../../domain/document/model/runs.ts'
import type { OpenDocument, ReadBlock } from '../../../domain/ports/index.ts'
import { canonicalBlocks } from '../../support/documents/arbitrary.ts'
import { documentWith } from '../../support/documents/gateway.ts'
import { property } from '../../support/property.ts'

// The editor of the page writes whole lists of blocks. The replica must turn each list into changes that the gateway accepts.

const START = '<p>one <b>two</b> three</p><pre>code</pre><table><tr><td>c</td><td>d</td></tr></table><h1>head</h1><hr/>'

interface Step {
  readonly who: number
  readonly op: 'insert' | 'delete' | 'move' | 'rewrite' | 'import'
  readonly at: number
  readonly to: number
  readonly content: readonly BlockContent[]
}
const step: fc.Arbitrary<Step> = fc.record({
  who: fc.nat(1),
  op: fc.constantFrom('insert', 'delete', 'move', 'rewrite', 'import'),
  at: fc.nat(20),
  to: fc.nat(20),
  content: canonicalBlocks,
})

let made = 0
const withId = (block: BlockContent): DocumentBlock => ({ ...block, id: `n${++made}` })

/** The blocks after one step of a person. */
function edited(blocks: readonly ReadBlock[], { op, at, to, content }: Step): ReadBlock[] {
  const after = [...blocks]
  if (op === 'insert') after.splice(at % (after.length + 1), 0, ...content.map(withId))
  if (after.length === 0) return after
  const one = at % after.length
  if (op === 'delete') after.splice(one, 1 + (to % 2))
  if (op === 'move') after.splice(to % after.length, 0, ...after.splice(one, 1))
  const [next] = content
  if (op === 'rewrite' && next !== undefined) after[one] = { ...next, id: after[one]!.id! }
  return after
}

/** A block in the form in which texts with equal runs are equal. */
function plain(block: ReadBlock): unknown {
  if ('text' in block) return { ...block, text: mergedRuns(block.text) }
  if (!('rows' in block)) return block
  return { ...block, rows: block.rows.map((row) => row.map((cell) => ({ ...cell, text: mergedRuns(cell.text) }))) }
}

/** Sends what a person wrote, as the page does: what the gateway refuses goes again with what others wrote meanwhile. */
function send(document: OpenDocument, person: PersonReplica, inbox: Uint8Array[]): Uint8Array | null {
  for (let tries = 0; ; tries++) {
    const unsent = person.unsent()
    if (unsent === null) return null
    const answer = document.import(unsent.update)
    if (answer.kind === 'imported') {
      answer.change.keep()
      unsent.sent()
      expect(person.unsent()).toBe(null)
      return unsent.update
    }
    expect(answer).toMatchObject({ kind: 'refused', reason: 'outside_model' })
    expect(tries).toBe(0)
    person.import(inbox.splice(0))
  }
}

it('has the blocks that it wrote; the gateway accepts each change, and replicas converge (law)', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const { document } = await documentWith(START)
      const snapshot = document.snapshot()
      const people = [new PersonReplica(snapshot), new PersonReplica(snapshot)]
      const inbox: Uint8Array[][] = [[], []]
      for (const one of steps) {
        const person = people[one.who]!
        if (one.op === 'import') person.import(inbox[one.who]!.splice(0))
        const wanted = edited(person.blocks, one)
        person.write(wanted)
        // Another document with the same changes is read anew.
        const whole = new PersonReplica(person.snapshot())
        expect(whole.blocks.map(plain)).toEqual(wanted.map(plain))
        const unsent = send(document, person, inbox[one.who]!)
        if (unsent === null) continue
        for (const box of inbox) box.push(unsent)
      }
      for (const [who, person] of people.entries()) {
        person.import(inbox[who]!)
        expect(person.blocks.map(plain)).toEqual(document.blocks().map(plain))
      }
    }),
    property(60),
  )
})

it('writes only what differs of a text, so that two people may write in one paragraph', async () => {
  const { document } = await documentWith('<p>one two three</p>')
  const [ann, bob] = [new PersonReplica(document.snapshot()), new PersonReplica(document.snapshot())]
  const [block] = ann.blocks
  const paragraph = (text: string): ReadBlock => ({
    ...(block as TextContent),
    id: block!.id!,
    text: [{ text, marks: {} }],
  })
  ann.write([paragraph('ONE two three')])
  bob.write([paragraph('one two THREE')])
  ann.import([bob.unsent()!.update])
  bob.import([ann.unsent()!.update])
  expect(ann.blocks).toEqual([paragraph('ONE two THREE')])
  expect(bob.blocks).toEqual(ann.blocks)
})

it('restores an earlier version by new changes', async () => {
  const { document } = await documentWith(START)
  const before = document.blocks()
  const frontier = document.frontier
  const person = new PersonReplica(document.snapshot())
  person.write([
    ...person.blocks.slice(2),
    withId({ type: 'paragraph', attrs: {}, text: [{ text: 'new', marks: {} }] }),
  ])
  person.restore(frontier)
  expect(person.blocks.map(plain)).toEqual(before.map(plain))
  const answer = document.import(person.unsent()!.update)
  if (answer.kind !== 'imported') expect.unreachable(JSON.stringify(answer))
  else answer.change.keep()
  expect(document.blocks().map(plain)).toEqual(before.map(plain))
  expect(() => person.restore('x')).toThrow('malformed')
  expect(() => person.restore('77:1')).toThrow()
})

it('is refused a move that brings back a block of which there is another', async () => {
  const { document } = await documentWith('<p>a</p><p>b</p><p>c</p>')
  const [ann, bob] = [new PersonReplica(document.snapshot()), new PersonReplica(document.snapshot())]
  const [a, b, c] = ann.blocks
  ann.write([a!, c!])
  ann.write([a!, { ...b! }, c!])
  const [first, second, third] = bob.blocks
  bob.write([second!, first!, third!])
  const answer = document.import(ann.unsent()!.update)
  if (answer.kind === 'imported') answer.change.keep()
  const moved = document.import(bob.unsent()!.update)
  if (moved.kind === 'imported') moved.change.keep()
  expect(document.blocks().filter(({ type }) => type === 'unreadable')).toEqual([])
})

it('sends many changes in parts, each of which the gateway accepts', async () => {
  const { document } = await documentWith('<p>a</p>')
  const person = new PersonReplica(document.snapshot())
  for (let n = 0; n < 20; n++)
    person.write([...person.blocks, withId({ type: 'paragraph', attrs: {}, text: [{ text: `line ${n}`, marks: {} }] })])
  let parts = 0
  for (let part = person.unsent(50); part !== null; part = person.unsent(50)) {
    const answer = document.import(part.update)
    if (answer.kind !== 'imported') expect.unreachable(JSON.stringify(answer))
    else answer.change.keep()
    part.sent()
    parts += 1
  }
  expect(parts).toBeGreaterThan(3)
  expect(document.blocks()).toEqual(person.blocks)
})

it('keeps an unreadable block, lets it be removed, and cannot write it again', async () => {
  const doc = new LoroDoc()
  doc.getMovableList('blocks').insert(0, 'no block')
  const person = new PersonReplica(doc.export({ mode: 'snapshot' }))
  const [unreadable] = person.blocks
  const next = withId({ type: 'paragraph', attrs: {}, text: [{ text: 'a', marks: {} }] })
  person.write([unreadable!, next])
  expect(person.blocks).toEqual([unreadable, next])
  person.write([next])
  person.write([unreadable!, next])
  expect(person.blocks).toEqual([next])
  expect(new PersonReplica(person.snapshot()).blocks.map(({ type }) => type)).toEqual(['paragraph'])
})
