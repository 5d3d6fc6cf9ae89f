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

  it('makes blocks outside the model unreadable, and no others', async () => {
    const { document } = await documentWith('<p>a</p><p>b</p><p>c</p>')
    const person = new Person('9', document.snapshot())
    const add = (entries: Record<string, unknown>) => {
      const map = person.blocks.pushContainer(new LoroMap())
      for (const [key, value] of Object.entries(entries)) map.set(key, value as never)
      return map
    }
    document.span('b1')
    const imported = document.import(
      person.change(() => {
        person.block(0).set('type', 'video')
        person.block(1).set('attrs', { level: 2 })
        add({ id: 'b3', type: 'paragraph', attrs: {} }).setContainer('text', new LoroText())
        add({ id: 't', type: 'table', attrs: {} }).setContainer('rows', new LoroList()).push('no row')
        add({ id: 'n', type: 'paragraph', attrs: {}, text: 'no text container' })
        add({ type: 'paragraph' })
        person.blocks.push('no map')
        add({ id: 'fine', type: 'paragraph', attrs: {} }).setContainer('text', new LoroText()).insert(0, 'f')
      }),
    )
    if (imported.kind !== 'imported') throw new Error(imported.kind)
    imported.change.keep()
    const kinds = ['b1', 'b2', 'b3', 't', 't/0/0', 'n', 'fine'].map((id) => document.span(id).kind)
    expect(kinds).toEqual(['unreadable', 'unreadable', 'unreadable', 'unreadable', 'missing', 'unreadable', 'block'])
    const types = document.blocks().map(({ id, type }) => `${id} ${type}`)
    expect(types.filter((text) => !text.endsWith('unreadable'))).toEqual(['fine paragraph'])
    expect(types).toHaveLength(9)
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
