import { LoroList, LoroMap, LoroText } from 'loro-crdt'
import { describe, expect, it } from 'vitest'
import { blocksFrom, documentWith, GATEWAY } from '../../support/documents/gateway.ts'
import { Person } from '../../support/documents/person.ts'

describe('the update of a person', () => {
  it('is refused where it is malformed, bears the gateway peer, or builds on unknown operations', async () => {
    const { document } = await documentWith('<p>a</p>')
    const reason = (update: Uint8Array) => {
      const before = document.frontier
      const imported = document.import(update)
      expect([document.frontier, document.blocks().length]).toEqual([before, 1])
      return imported.kind === 'refused' ? imported.reason : imported.kind
    }
    const person = new Person('9', document.snapshot())
    const first = person.change(() => person.text(0).insert(0, 'x'))
    const second = person.change(() => person.text(0).insert(0, 'y'))
    expect(reason(second)).toBe('missing_dependencies')
    const broken = first.slice()
    broken[broken.length - 2]! ^= 1
    expect([broken, first.slice(0, -1), new Uint8Array(), new Uint8Array(99)].map(reason)).toEqual(
      Array(4).fill('malformed'),
    )
    expect(reason(person.doc.export({ mode: 'snapshot' }))).toBe('malformed')
    expect(reason(person.doc.export({ mode: 'update' }))).toBe('gateway_peer')
    const forger = new Person(GATEWAY, document.snapshot())
    expect(reason(forger.change(() => forger.text(0).insert(0, 'x')))).toBe('gateway_peer')
    const other = new Person('10', document.snapshot())
    other.doc.import(first)
    expect(reason(other.change(() => other.text(0).insert(1, 'z')))).toBe('missing_dependencies')
    const imported = document.import(first)
    if (imported.kind !== 'imported') throw new Error(imported.kind)
    imported.change.keep()
    expect([reason(first), document.span('b1')]).toMatchObject(['known', { text: 'xa' }])
  })

  it('leaves nothing behind where only its second change builds on unknown operations', async () => {
    const { document } = await documentWith('<p>a</p>')
    const person = new Person('9', document.snapshot())
    const other = new Person('10', document.snapshot())
    person.change(() => person.text(0).insert(0, 'first'))
    person.doc.import(other.change(() => other.text(0).insert(0, 'unknown')))
    person.change(() => person.text(0).insert(0, 'second'))
    const len = person.doc.oplogVersion().get('9')!
    const update = person.doc.export({ mode: 'updates-in-range', spans: [{ id: { peer: '9', counter: 0 }, len }] })
    const before = document.frontier
    expect(document.import(update)).toMatchObject({ kind: 'refused', reason: 'missing_dependencies' })
    expect([document.frontier, document.span('b1')]).toMatchObject([before, { text: 'a' }])
    document.edit([]).keep()
  })

  it('can be discarded like an edit', async () => {
    const { document } = await documentWith('<p>a</p>')
    const person = new Person('9', document.snapshot())
    const update = person.change(() => person.text(0).insert(0, 'x'))
    const imported = document.import(update)
    if (imported.kind !== 'imported') throw new Error(imported.kind)
    imported.change.discard()
    expect(document.span('b1')).toMatchObject({ text: 'a' })
    expect(document.import(update).kind).toBe('imported')
  })

  describe('that leaves a block outside the document model is refused:', () => {
    const add = (person: Person, entries: Record<string, unknown>) => {
      const map = person.blocks.pushContainer(new LoroMap())
      for (const [key, value] of Object.entries(entries)) map.set(key, value as never)
      return map
    }
    const paragraph = (person: Person, id: string) =>
      add(person, { id, type: 'paragraph', attrs: {} }).setContainer('text', new LoroText())

    it.each<[string, (person: Person) => unknown]>([
      ['another block with the same id', (person) => paragraph(person, 'b3')],
      ['a block that takes the id of another one', (person) => person.block(0).set('id', 'b2')],
      ['a block with an id of the form of a table cell', (person) => paragraph(person, 't/0/0')],
      ['an unknown type', (person) => person.block(0).set('type', 'video')],
      ['attributes of another type', (person) => person.block(1).set('attrs', { level: 2 })],
      ['a text that is gone', (person) => person.block(1).delete('text')],
      [
        'a table whose row is no row',
        (person) =>
          add(person, { id: 't', type: 'table', attrs: {} }).setContainer('rows', new LoroList()).push('no row'),
      ],
      ['no text container', (person) => add(person, { id: 'n', type: 'paragraph', attrs: {}, text: 'plain' })],
      ['no id', (person) => add(person, { type: 'divider', attrs: {} })],
      ['no map', (person) => person.blocks.push('no map')],
      ['a text in place of a block', (person) => person.blocks.pushContainer(new LoroText())],
      ['a block that is replaced by a value', (person) => person.blocks.set(0, 'gone')],
    ])('%s', async (_, fault) => {
      for (const more of [0, 20_000]) {
        const { document } = await documentWith('<p>a</p><p>b</p><p>c</p>')
        const person = new Person('9', document.snapshot())
        const update = person.change(() => {
          fault(person)
          paragraph(person, 'fine').insert(0, 'f'.repeat(more))
        })
        expect(document.import(update)).toMatchObject({ kind: 'refused', reason: 'outside_model' })
        expect(document.blocks().map(({ id, type }) => `${id} ${type}`)).toEqual(
          ['b1', 'b2', 'b3'].map((id) => `${id} paragraph`),
        )
      }
    })

    it('the same change is taken once a later one has corrected the block', async () => {
      const { document } = await documentWith('<p>a</p>')
      const person = new Person('9', document.snapshot())
      const update = person.change(() => {
        person.block(0).set('attrs', { level: 2 })
        person.doc.commit()
        person.block(0).set('type', 'heading')
      })
      expect(document.import(update).kind).toBe('imported')
    })

    it('not where a block was outside of it before, and the update leaves that one alone', async () => {
      const { document } = await documentWith('<p>a</p><p>b</p>')
      const before = new Person('8', document.snapshot())
      document.follow(before.change(() => before.block(0).set('type', 'video')))
      const person = new Person('9', document.snapshot())
      expect(document.import(person.change(() => person.text(1).insert(0, 'x'))).kind).toBe('imported')
    })
  })

  it('finds blocks that moved, were renamed, or came with a person', async () => {
    const { document } = await documentWith('<p>a</p><p>b</p><p>c</p>')
    expect(document.span('b1').kind).toBe('block')
    const person = new Person('9', document.snapshot())
    const imported = document.import(
      person.change(() => {
        person.blocks.move(0, 2)
        person.block(0).set('id', 'renamed')
        person.blocks.delete(1, 1)
      }),
    )
    if (imported.kind !== 'imported') throw new Error(imported.kind)
    imported.change.keep()
    expect(['b1', 'b2', 'b3', 'renamed'].map((id) => document.span(id).kind)).toEqual([
      ...['block', 'missing', 'missing', 'block'],
    ])
    document
      .edit([{ kind: 'insert', after: 'b1', blocks: blocksFrom('<p>n</p>').map((b) => ({ ...b, id: 'n' })) }])
      .keep()
    expect(document.blocks().map(({ id }) => id)).toEqual(['renamed', 'b1', 'n'])
  })
})
