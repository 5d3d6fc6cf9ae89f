import fc from 'fast-check'
import { LoroMap, LoroText } from 'loro-crdt'
import { expect, it } from 'vitest'
import { loroDocuments } from '../../../adapters/loro/documents.ts'
import { textRunsOf, toDelta } from '../../../adapters/loro/styles.ts'
import { textChange } from '../../../adapters/loro/text-change.ts'
import { MARKS, mergedRuns, type TextRun } from '../../../domain/document/model/runs.ts'
import { documentWith, GATEWAY, Gateway } from '../../support/documents/gateway.ts'
import { Person } from '../../support/documents/person.ts'
import { property } from '../../support/property.ts'

// Replicas that have seen the same updates hold the same document, in whatever order the updates came.

const START = '<p>one two three</p><pre>code</pre><table><tr><td>c</td></tr></table><h1>head</h1>'
const text = fc
  .array(fc.constantFrom('one', 'two', ' ', 'x', '😀', 'é', '\n', '.'), { maxLength: 6 })
  .map((s) => s.join(''))
const nat = fc.nat(50)

type Step =
  | { readonly by: 'agent'; readonly op: 'replace' | 'insert' | 'delete'; readonly at: number; readonly text: string }
  | {
      readonly by: 'person'
      readonly op: 'type' | 'mark' | 'move' | 'insert' | 'delete'
      readonly at: number
      readonly text: string
    }
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ by: fc.constant('agent' as const), op: fc.constantFrom('replace', 'insert', 'delete'), at: nat, text }),
  fc.record({
    by: fc.constant('person' as const),
    op: fc.constantFrom('type', 'mark', 'move', 'insert', 'delete'),
    at: nat,
    text,
  }),
) as fc.Arbitrary<Step>

const escaped = (content: string) => content.replaceAll('\n', '<br/>')

/** The gateway makes a request about a span of its document as it is now; true where it was applied. */
function agent(gateway: Gateway, { op, at, text: content }: Step, id: string): boolean {
  const ids = [...gateway.document.blocks().map((block) => block.id!), 'b3/0/0'].filter(
    (span) => gateway.document.span(span).kind !== 'missing',
  )
  const span = ids[at % ids.length]
  if (span === undefined) return false
  const xml = {
    replace: `<replace_spans><span span_id="${span}">${escaped(content)}</span></replace_spans>`,
    insert: `<insert_blocks after="${span}"><p>${escaped(content)}</p></insert_blocks>`,
    delete: `<delete_blocks><span span_id="${span}"/></delete_blocks>`,
  }[op as 'replace']
  return gateway.ask(id, xml, [span]).status === 200
}

function person(replica: Person, { op, at, text: content }: Step): void {
  const { blocks } = replica
  const index = blocks.length === 0 ? 0 : at % blocks.length
  const own = blocks.length === 0 ? undefined : replica.block(index).get('text')
  if (op === 'insert') {
    const map = blocks.insertContainer(index, new LoroMap())
    map.set('id', `p${replica.doc.opCount()}`)
    map.set('type', 'paragraph')
    map.set('attrs', {})
    map.setContainer('text', new LoroText()).insert(0, content)
  } else if (op === 'delete' && blocks.length > 0) blocks.delete(index, 1)
  else if (op === 'move' && blocks.length > 1) blocks.move(index, (at * 7) % blocks.length)
  else if (own instanceof LoroText && op === 'type') own.insert(0, content)
  else if (own instanceof LoroText && op === 'mark' && own.length > 1)
    own.mark({ start: 0, end: own.length }, 'bold', true)
}

it('replicas converge, whatever the order of the updates', async () => {
  let merged = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.infiniteStream(nat), async (steps, order) => {
      const { document, updates } = await documentWith(START)
      const gateway = new Gateway(document)
      const replica = new Person('9', document.snapshot())
      const sent: Uint8Array[] = []
      // Both sides work on their own, then exchange.
      for (const [i, one] of steps.entries()) {
        if (one.by === 'agent') merged += Number(agent(gateway, one, `r${i}`))
        else sent.push(replica.change(() => person(replica, one)))
      }
      const stored = [...updates, ...gateway.updates]
      for (const update of sent) {
        const imported = document.import(update)
        if (imported.kind === 'imported') {
          imported.change.keep()
          stored.push(update)
        } else expect(imported.kind).toBe('known')
      }
      // The person takes the updates in another order; Loro keeps those that came too early.
      const shuffled = stored.map((update) => [order.next().value!, update] as const).sort(([a], [b]) => a - b)
      for (const [, update] of shuffled) replica.doc.import(update)
      const other = await loroDocuments.open({ gatewayPeer: GATEWAY, updates: stored })
      const mirror = await loroDocuments.open({
        gatewayPeer: GATEWAY,
        snapshot: replica.doc.export({ mode: 'snapshot' }),
        updates: [],
      })
      for (const copy of [other, mirror]) {
        expect(copy.blocks()).toEqual(document.blocks())
        expect(copy.frontier).toBe(document.frontier)
      }
      for (const block of document.blocks())
        if (block.id !== null) expect(other.span(block.id)).toEqual(document.span(block.id))
      for (const one of [document, other, mirror]) one.close()
    }),
    property(25),
  )
  // A sample has 26 to 56 of them: no sample has none by chance.
  expect(merged).toBeGreaterThan(0)
})

it('an edit on the replica and the import of its update are the same document', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 10 }), async (steps) => {
      const { document, updates } = await documentWith(START)
      const follower = await loroDocuments.open({ gatewayPeer: GATEWAY, updates })
      const gateway = new Gateway(document)
      for (const [i, one] of steps.entries()) {
        if (one.by !== 'agent' || !agent(gateway, one, `r${i}`)) continue
        follower.follow(gateway.updates.at(-1)!)
        expect(follower.blocks()).toEqual(document.blocks())
        expect(follower.frontier).toBe(document.frontier)
        // The index that each replica keeps tells the same as the document itself.
        for (const { id } of document.blocks()) expect(follower.span(id!)).toEqual(document.span(id!))
      }
    }),
    property(25),
  )
})

const runs: fc.Arbitrary<TextRun[]> = fc
  .array(
    fc.record({
      text,
      marks: fc.constantFrom(
        {},
        { bold: true as const },
        { link: { href: '/x' } },
        { bold: true as const, code: true as const },
      ),
    }),
    { maxLength: 5 },
  )
  .map(mergedRuns)

it('a text becomes the new one, with the new marks and no others', () => {
  fc.assert(
    fc.property(runs, runs, (before, after) => {
      const replica = new Person('9')
      const own = replica.doc.getText('t')
      if (before.length > 0) own.applyDelta(toDelta(before))
      const change = textChange(own.toDelta(), toDelta(after), MARKS)
      if (change.length > 0) own.applyDelta(change)
      expect(textRunsOf(own)).toEqual(after)
      expect(textChange(own.toDelta(), toDelta(after), MARKS)).toEqual([])
    }),
    property(200),
  )
})

it('a change of one word leaves the others alone, also in a long text and between surrogate pairs', () => {
  const long = Array.from({ length: 20_000 }, (_, i) => `word${i}`).join(' ')
  const change = textChange([{ insert: long }], [{ insert: long.replace('word7000 ', 'ward7000 ') }], MARKS)
  expect(change.filter((part) => !('retain' in part))).toHaveLength(2)
  expect(JSON.stringify(change).length).toBeLessThan(200)
  const faces = textChange([{ insert: '😀😁' }], [{ insert: '😀😂' }], MARKS)
  expect(faces).toEqual([{ retain: 2 }, { delete: 2 }, { insert: '😂', attributes: {} }])
  const other = Array.from({ length: 20_000 }, (_, i) => `other${i * 7}`).join(' ')
  const rewritten = textChange([{ insert: `same ${long} end` }], [{ insert: `same ${other} end` }], MARKS)
  expect(rewritten.map((part) => part.retain ?? Object.keys(part)[0])).toEqual([5, 'delete', 'insert'])
})
