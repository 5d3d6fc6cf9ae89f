import fc from 'fast-check'
import { LoroList, LoroMap, LoroText } from 'loro-crdt'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { loroDocuments } from '../../../adapters/loro/documents.ts'
import type { OpenDocument } from '../../../domain/ports/index.ts'
import { mutated, nestedValue } from '../../support/documents/forged-updates.ts'
import { documentWith, GATEWAY } from '../../support/documents/gateway.ts'
import { Person } from '../../support/documents/person.ts'
import { property } from '../../support/property.ts'

// Loro tells on the error console where it panics.
const quiet = () => vi.spyOn(console, 'error').mockImplementation(() => undefined)
afterEach(() => vi.restoreAllMocks())

/** The document can be read, edited and opened anew. */
async function isWell(document: OpenDocument): Promise<void> {
  const { frontier } = document
  document.edit([{ kind: 'insert', after: null, blocks: [{ id: 'n', type: 'divider', attrs: {} }] }]).discard()
  expect(document.frontier).toBe(frontier)
  const blocks = document.blocks()
  const again = await loroDocuments.open({ gatewayPeer: GATEWAY, snapshot: document.snapshot(), updates: [] })
  expect([again.frontier, again.blocks()]).toEqual([frontier, blocks])
  again.close()
}

/** An update with every kind of operation. `outside`: it leaves a block outside the document model. */
function ofAllKinds(document: OpenDocument, outside = false): Uint8Array {
  const person = new Person('9', document.snapshot())
  return person.change(() => {
    person.text(0).insert(2, 'world')
    person.text(0).delete(0, 1)
    person.text(0).mark({ start: 0, end: 3 }, 'bold', true)
    const block = person.blocks.insertContainer(1, new LoroMap())
    const attrs = outside ? { a: [1, 2, 'x'] } : {}
    for (const [key, value] of Object.entries({ id: 'q', type: 'paragraph', attrs })) block.set(key, value)
    block.setContainer('text', new LoroText()).insert(0, 'abc')
    person.blocks.move(0, 1)
    const list = outside ? person.blocks : person.doc.getMovableList('elsewhere')
    if (!outside) list.push({ a: [1, 2, 'x'] })
    list.set(0, 'zz')
    person.doc.getTree('t').createNode()
    person.doc.getCounter('c').increment(2)
  })
}

const reasonOf = (document: OpenDocument, update: Uint8Array) => {
  const found = document.import(update)
  if (found.kind === 'imported') found.change.discard()
  return found.kind === 'refused' ? found.reason : found.kind
}

describe('an update that no Loro document exports', () => {
  it('harms no document, whatever its bytes are', async () => {
    quiet()
    const change = fc.record({ at: fc.nat(), byte: fc.oneof(fc.constantFrom(0, 1, 127, 128, 255), fc.nat(255)) })
    const changes = fc.array(change, { minLength: 1, maxLength: 3 })
    const { document: first } = await documentWith('<p>hello</p>')
    const [snapshot, update] = [first.snapshot(), ofAllKinds(first)]
    let document = first
    await fc.assert(
      fc.asyncProperty(changes, async (made) => {
        const { frontier } = document
        const found = document.import(mutated(update, made))
        if (found.kind !== 'imported') {
          expect(document.frontier).toBe(frontier)
          return
        }
        found.change.keep()
        await isWell(document)
        document.close()
        document = await loroDocuments.open({ gatewayPeer: GATEWAY, snapshot, updates: [] })
      }),
      property(600),
    )
    await isWell(document)
  })

  it('is refused by a replica that was rebuilt as by any other', async () => {
    quiet()
    const { document } = await documentWith('<p>hello</p>')
    // A mark that ends behind the end of its text.
    const update = mutated(ofAllKinds(document, true), [{ at: 1148420829, byte: 127 }])
    expect(reasonOf(document, update)).toBe('malformed')
    document.edit([]).discard()
    expect(reasonOf(document, update)).toBe('malformed')
    await isWell(document)
  })

  it('leaves room on the stack of Loro, however often it ends Loro half-way', async () => {
    quiet()
    const { document } = await documentWith('<p>hello</p>')
    const person = new Person('9', document.snapshot())
    const update = nestedValue(person.doc, (value) => person.block(0).set('attrs', value), 20_000)
    for (let i = 0; i < 20; i++) expect(reasonOf(document, update)).toBe('malformed')
    await isWell(document)
  })

  it('is refused where a value lies in too many others', async () => {
    quiet()
    const { document } = await documentWith('<p>hello</p>')
    const reason = (depth: number) => {
      const person = new Person('9', document.snapshot())
      return reasonOf(
        document,
        nestedValue(person.doc, (value) => person.doc.getMap('elsewhere').set('a', value), depth),
      )
    }
    expect([3, 60, 65, 500, 4000, 5000, 100_000].map(reason)).toEqual([
      ...['imported', 'imported', 'malformed', 'malformed', 'malformed', 'malformed', 'malformed'],
    ])
    await isWell(document)
  })
})

describe('an update that costs more than a document needs', () => {
  const nesting = async (depth: number, more = '') => {
    const { document } = await documentWith('<p>hello</p>')
    const person = new Person('9', document.snapshot())
    const update = person.change(() => {
      let list: LoroList = person.doc.getList('nested')
      for (let i = 0; i < depth; i++) list = list.insertContainer(0, new LoroList())
      person.doc.getText('elsewhere').insert(0, more)
    })
    return { document, update }
  }

  it.each([
    ['as it is imported', ''],
    ['where it is large', 'x'.repeat(20_000)],
  ])('is refused for containers within too many others, %s', async (_, more) => {
    const few = await nesting(50, more)
    expect(reasonOf(few.document, few.update)).toBe('imported')
    const many = await nesting(70, more)
    expect(reasonOf(many.document, many.update)).toBe('malformed')
    await isWell(many.document)
  })

  it('is refused where it continues deep ones that are there', async () => {
    const { document, update } = await nesting(50)
    const found = document.import(update)
    if (found.kind !== 'imported') throw new Error(found.kind)
    found.change.keep()
    const person = new Person('10', document.snapshot())
    const deeper = person.change(() => {
      let list = person.doc.getList('nested')
      while (list.length > 0) list = list.get(0) as LoroList
      for (let i = 0; i < 20; i++) list = list.insertContainer(0, new LoroList())
    })
    expect(reasonOf(document, deeper)).toBe('malformed')
  })

  it('is refused for its operations before it is imported', async () => {
    const { document } = await documentWith('<p>hello</p>')
    const person = new Person('9', document.snapshot())
    const update = person.change(() => person.text(0).insert(0, 'x'.repeat(250_001)))
    expect(reasonOf(document, update)).toBe('too_many_operations')
  })

  it('shows all of its words where it is large', async () => {
    const { document } = await documentWith('<p>secret</p>')
    const person = new Person('9', document.snapshot())
    document.span('b1')
    const found = document.import(
      person.change(() => {
        person.text(0).insert(6, 'word')
        person.doc.getText('elsewhere').insert(0, 'x'.repeat(20_000))
      }),
    )
    if (found.kind !== 'imported') throw new Error(found.kind)
    expect(found.words).toContain('secretword')
    found.change.keep()
    expect(document.span('b1')).toMatchObject({ text: 'secretword' })
  })
})
