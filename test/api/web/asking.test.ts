import { beforeEach, describe, expect, it } from 'vitest'
import { PersonReplica } from '../../../adapters/loro/person-replica.ts'
import { askAbout, presentText } from '../../../api/web/documents/editor/asking.ts'
import type { DocumentBlock } from '../../../domain/document/model/block.ts'
import { documentWith } from '../../support/documents/gateway.ts'

describe('a person who asks about a selected text', () => {
  let replica: PersonReplica
  let id: string
  beforeEach(async () => {
    replica = new PersonReplica((await documentWith('<p>fox and fox</p>')).document.snapshot())
    id = replica.blocks[0]!.id!
  })

  const write = (text: string) =>
    replica.write([{ ...(replica.blocks[0] as DocumentBlock), text: [{ text, marks: {} }] } as DocumentBlock])
  const second = (kind: 'comment' | 'suggestion') =>
    askAbout(replica, kind, { span_id: id, quote: 'fox', start: 'fox and '.length })!

  it('means the same occurrence after text before it has changed', () => {
    const asking = second('comment')
    // The first "fox" now stands where the second one was.
    write('XXXXXXXXfox and fox')
    expect(presentText(replica, asking)).toEqual({ span_id: id, quote: 'fox', start: 'XXXXXXXXfox and '.length })
  })

  it('comments on the present text, but makes no suggestion for a changed one', () => {
    const [comment, suggestion] = [second('comment'), second('suggestion')]
    write('fox and fo+x')
    expect(presentText(replica, comment)).toMatchObject({ quote: 'fo+x' })
    expect(() => presentText(replica, suggestion)).toThrow('the text is now "fo+x"')
    write('fox and ')
    for (const asking of [comment, suggestion]) expect(() => presentText(replica, asking)).toThrow('was deleted')
  })

  it('cannot begin with a text that does not stand there', () => {
    expect(askAbout(replica, 'comment', { span_id: id, quote: 'hen', start: 0 })).toBe(null)
    expect(askAbout(replica, 'comment', { span_id: 'nothing', quote: 'fox', start: 0 })).toBe(null)
  })
})
