import { LoroDoc } from 'loro-crdt'
import { expect, it } from 'vitest'
import { documentWith } from '../../support/documents/gateway.ts'

it('is written in pieces, because Loro opens a text in the square of its longest insertion', async () => {
  const { document } = await documentWith('<p>a</p>')
  const long = `${'x'.repeat(4095)}${'😀'.repeat(30_000)}`
  const runs = [{ text: `a${long}`, marks: {} }]
  document.edit([{ kind: 'replace', spanId: 'b1', runs }]).keep()
  const block = { id: 'b2', type: 'paragraph', attrs: {}, text: runs } as const
  document.edit([{ kind: 'insert', after: 'b1', blocks: [block] }]).keep()
  expect(document.blocks().map((one) => 'text' in one && one.text)).toEqual([runs, runs])
  const doc = new LoroDoc()
  doc.import(document.snapshot())
  const inserted = doc
    .exportJsonUpdates(undefined, undefined, false)
    .changes.flatMap(({ ops }) => ops.flatMap(({ content }) => ('text' in content ? [content.text] : [])))
  expect(inserted.length).toBeGreaterThan(20)
  expect(Math.max(...inserted.map(({ length }) => length))).toBeLessThanOrEqual(4097)
})
