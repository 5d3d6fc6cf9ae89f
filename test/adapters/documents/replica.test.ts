import { describe, expect, it } from 'vitest'
import { loroDocuments } from '../../../adapters/loro/documents.ts'
import { toHtml } from '../../../domain/document/markup/document-html.ts'
import { parseFrontier } from '../../../domain/document/model/frontier.ts'
import type { OpenDocument } from '../../../domain/ports/index.ts'
import { blocksFrom, documentWith, GATEWAY } from '../../support/documents/gateway.ts'
import { Person } from '../../support/documents/person.ts'

const html = (document: OpenDocument) => toHtml(document.blocks())
const run = (text: string) => [{ text, marks: {} }]

describe('a document on Loro', () => {
  it('holds every block type with marks, and opens again from its updates or a snapshot', async () => {
    const xml =
      '<h2>T</h2><p>a <b>b<i>c</i></b> <a href="https://x/" title="t">d</a></p><blockquote>q</blockquote><pre>x\n y</pre>' +
      '<ul><li>one</li></ul><table><tr><th colspan="2">h</th></tr><tr><td>1</td><td></td></tr></table><hr/>'
    const { document, updates } = await documentWith(xml)
    expect(document.blocks()).toEqual(blocksFrom(xml))
    for (const stored of [{ updates }, { snapshot: document.snapshot(), updates: [] }]) {
      const again = await loroDocuments.open({ gatewayPeer: GATEWAY, ...stored })
      expect(again.blocks()).toEqual(document.blocks())
      expect(again.frontier).toBe(document.frontier)
    }
  })

  it('starts empty, with the empty frontier', async () => {
    const document = await loroDocuments.open({ gatewayPeer: GATEWAY, updates: [] })
    expect([document.frontier, document.blocks(), document.relation([])]).toEqual(['', [], 'equal'])
    const nothing = document.edit([])
    nothing.keep()
    expect(document.frontier).toBe('')
    await expect(loroDocuments.open({ gatewayPeer: GATEWAY, updates: [nothing.update] })).resolves.toBeDefined()
  })

  it('edits a text by the words that differ, so that a concurrent edit of it merges', async () => {
    const { document } = await documentWith('<p>The quick brown fox jumps over the lazy dog</p>')
    const person = new Person('9', document.snapshot())
    const update = person.change(() => person.text(0).insert(person.text(0).toString().length, '!'))
    const change = document.edit([
      { kind: 'replace', spanId: 'b1', runs: run('The quick red fox leaps over the lazy dog') },
    ])
    change.keep()
    expect(change.update.length).toBeLessThan(300)
    const imported = document.import(update)
    if (imported.kind !== 'imported') throw new Error(imported.kind)
    imported.change.keep()
    expect(document.span('b1')).toMatchObject({ text: 'The quick red fox leaps over the lazy dog!' })
  })

  it('sets only the marks that differ, and leaves a mark outside the model where it is', async () => {
    const { document } = await documentWith('<p>one two three</p>')
    const person = new Person('9', document.snapshot())
    const comment = document.import(person.change(() => person.text(0).mark({ start: 4, end: 7 }, 'comment', 'c1')))
    if (comment.kind === 'imported') comment.change.keep()
    const runs = [
      { text: 'one ', marks: {} },
      { text: 'two', marks: { bold: true } },
      { text: ' three', marks: {} },
    ] as const
    const change = document.edit([{ kind: 'replace', spanId: 'b1', runs }])
    change.keep()
    expect(html(document)).toBe('<p>one <b>two</b> three</p>')
    person.doc.import(change.update)
    expect(person.text(0).toDelta()[1]).toEqual({ insert: 'two', attributes: { bold: true, comment: 'c1' } })
    document.edit([{ kind: 'replace', spanId: 'b1', runs: run('one two three') }]).keep()
    expect(html(document)).toBe('<p>one two three</p>')
  })

  it('lets typing at the end continue bold, underlined and struck text, but neither code nor a link', async () => {
    const { document } = await documentWith(
      '<p><b>x</b></p><p><u>x</u></p><p><s>x</s></p><p><code>x</code></p><p><a href="/">x</a></p>',
    )
    const person = new Person('9', document.snapshot())
    for (const at of [0, 1, 2, 3, 4]) person.text(at).insert(1, 'y')
    const marks = [0, 1, 2, 3, 4].map((at) =>
      person
        .text(at)
        .toDelta()
        .map(({ attributes = {} }) => Object.keys(attributes).join()),
    )
    expect(marks).toEqual([['bold'], ['underline'], ['strike'], ['code', ''], ['link', '']])
  })

  it('does not let new plain text inherit the marks of its neighbour', async () => {
    const { document } = await documentWith('<p><b>x</b></p>')
    const runs = [
      { text: 'x', marks: { bold: true } },
      { text: ' y', marks: {} },
    ] as const
    document.edit([{ kind: 'replace', spanId: 'b1', runs }]).keep()
    expect(html(document)).toBe('<p><b>x</b> y</p>')
  })

  it('reads no mark whose value lies outside the document model', async () => {
    const { document } = await documentWith('<p>x</p>')
    const person = new Person('9', document.snapshot())
    const imported = document.import(
      person.change(() => {
        person.text(0).mark({ start: 0, end: 1 }, 'link', 'javascript:1')
        person.text(0).mark({ start: 0, end: 1 }, 'bold', 'yes')
        person.text(0).mark({ start: 0, end: 1 }, 'italic', true)
      }),
    )
    if (imported.kind === 'imported') imported.change.keep()
    const read = [{ id: 'b1', type: 'paragraph', attrs: {}, text: [{ text: 'x', marks: { italic: true } }] }]
    expect(document.blocks()).toEqual(read)
  })

  it('is rebuilt time and again, also from a long history', async () => {
    const { document, updates } = await documentWith('<p>a</p>')
    const person = new Person('9', document.snapshot())
    const typed = Array.from({ length: 1200 }, () => person.change(() => person.text(0).insert(0, 'x')))
    const long = await loroDocuments.open({ gatewayPeer: GATEWAY, updates: [...updates, ...typed] })
    const before = [long.frontier, long.blocks()]
    for (let i = 0; i < 3; i++) long.edit([{ kind: 'delete', blockId: 'b1' }]).discard()
    expect([long.frontier, long.blocks()]).toEqual(before)
  })

  it('takes part in nothing once it is closed', async () => {
    const { document } = await documentWith('<p>a</p>')
    const change = document.edit([])
    document.close()
    document.close()
    for (const use of [() => document.frontier, () => document.blocks(), () => change.keep()])
      expect(use).toThrow(expect.objectContaining({ code: 'DOCUMENT_CLOSED' }))
  })

  it('does not open from bytes that are none of a document, or from a part of its updates', async () => {
    const { document, updates } = await documentWith('<p>a</p>')
    const change = document.edit([{ kind: 'delete', blockId: 'b1' }])
    for (const wrong of [[new Uint8Array(30)], [updates[0]!.slice(0, -1)], [change.update]])
      await expect(loroDocuments.open({ gatewayPeer: GATEWAY, updates: wrong })).rejects.toMatchObject({
        code: 'DOCUMENT_CORRUPT',
      })
  })

  it('edits cells, inserts behind blocks and at the start, deletes', async () => {
    const { document } = await documentWith('<table><tr><td>1</td><td>2</td></tr></table><p>p</p>')
    const [x, y] = blocksFrom('<p>x</p><p>y</p>').map((block) => ({ ...block, id: `n${block.id}` }))
    document
      .edit([
        { kind: 'replace', spanId: 'b1/0/1', runs: run('two') },
        { kind: 'insert', after: 'b1', blocks: [x!] },
        { kind: 'insert', after: null, blocks: [y!] },
        { kind: 'delete', blockId: 'b2' },
      ])
      .keep()
    expect(document.blocks().map(({ id }) => id)).toEqual(['nb2', 'b1', 'nb1'])
    expect(document.span('b1/0/1')).toEqual({ kind: 'cell', blockId: 'b1', type: 'table', text: 'two' })
    expect(document.span('b1')).toMatchObject({ text: '1\ttwo' })
    for (const gone of ['b2', 'b1/1/0', 'b1/0/2', 'nb1/0/0']) expect(document.span(gone).kind, gone).toBe('missing')
  })

  it('is as it was after a discarded edit, and gives the same operation ids again', async () => {
    const { document } = await documentWith('<p>a</p>')
    const before = document.frontier
    const edit = () => document.edit([{ kind: 'replace', spanId: 'b1', runs: run('b') }])
    const first = edit()
    expect(() => document.frontier).toThrow('keep or discard it first')
    first.discard()
    expect([document.frontier, document.span('b1')]).toMatchObject([before, { text: 'a' }])
    expect(() => first.keep()).toThrow('settle it once')
    const second = edit()
    expect(second.frontier).toBe(first.frontier)
    second.keep()
    expect(document.span('b1')).toMatchObject({ text: 'b' })
  })

  it('changes nothing where one of several edits is not possible', async () => {
    const { document } = await documentWith('<p>a</p>')
    const before = document.frontier
    const edits = [
      { kind: 'replace', spanId: 'b1', runs: run('b') },
      { kind: 'delete', blockId: 'nix' },
    ] as const
    expect(() => document.edit(edits)).toThrow(expect.objectContaining({ code: 'EDIT_INVALID' }))
    expect([document.frontier, document.span('b1')]).toMatchObject([before, { text: 'a' }])
  })

  it.each([false, true])('follows updates that another writer has stored; rebuilt before: %s', async (isRebuilt) => {
    const { document, updates } = await documentWith('<p>a</p>')
    if (isRebuilt) document.edit([]).discard()
    const other = await loroDocuments.open({ gatewayPeer: GATEWAY, updates })
    const change = other.edit([{ kind: 'replace', spanId: 'b1', runs: run('b') }])
    const later = other
    change.keep()
    const second = later.edit([{ kind: 'replace', spanId: 'b1', runs: run('c') }])
    expect(() => document.follow(second.update)).toThrow(expect.objectContaining({ code: 'DOCUMENT_CORRUPT' }))
    document.follow(change.update)
    document.follow(second.update)
    expect(document.span('b1')).toMatchObject({ text: 'c' })
  })

  it('tells how a client frontier stands to its own', async () => {
    const { document } = await documentWith('<p>a</p>')
    const old = document.frontier
    document.edit([{ kind: 'replace', spanId: 'b1', runs: run('ab') }]).keep()
    const counter = Number(document.frontier.split(':')[1])
    const relation = (text: string) => document.relation(parseFrontier(text)!)
    expect(relation(document.frontier)).toBe('equal')
    expect([relation(old), relation('')]).toEqual(['behind', 'behind'])
    expect(relation(`1:${counter + 1}`)).toBe('ahead')
    expect(relation(`1:${counter}|7:0`)).toBe('ahead')
    expect(relation('7:0')).toBe('unknown')
    const person = new Person('9', document.snapshot())
    const imported = document.import(person.change(() => person.text(0).insert(0, 'x')))
    if (imported.kind === 'imported') imported.change.keep()
    expect(relation(`1:${counter + 5}`)).toBe('diverged')
  })
})
