import { expect, test } from 'vitest'
import { blocksAfter } from '../../../adapters/loro/tools/block-page.ts'
import { RESULT_BYTES } from '../../../domain/calls/truncate.ts'
import { blocksFrom } from '../../support/documents/gateway.ts'

const size = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

test('a long document comes in parts that fit into a result, each block once', () => {
  const blocks = blocksFrom(`<p>${'word '.repeat(100)}</p>`.repeat(200))
  const seen: unknown[] = []
  let after: string | undefined
  for (let parts = 0; parts < 50; parts++) {
    const page = blocksAfter(blocks, after)!
    expect(size(page)).toBeLessThan(RESULT_BYTES)
    seen.push(...page.blocks.map(({ span_id }) => span_id))
    after = page.next
    if (after === undefined) break
  }
  expect(seen).toEqual(blocks.map(({ id }) => id))
  expect(blocksAfter(blocks, 'gone')).toBeNull()
})

test('a block that is too long is cut after secrets were hidden in it; what follows is not lost', () => {
  const secret = 'hunter2'
  const blocks = blocksFrom(`<p>${`"${secret}" `.repeat(20_000)}</p><p>end</p>`)
  const page = blocksAfter(blocks, undefined, (text) => text.replaceAll(secret, '[hidden]'))!
  expect(size(page)).toBeLessThan(RESULT_BYTES)
  expect(JSON.stringify(page)).not.toContain('hunt')
  expect(page.next).toBe('b1')
  expect(blocksAfter(blocks, 'b1')).toMatchObject({ blocks: [{ span_id: 'b2', content: 'end' }] })
})

test('tables show a span for each cell, and inline content as ops_xml takes it', () => {
  const blocks = blocksFrom('<table><tr><th>a &amp; b</th><td><b>c</b></td></tr></table>')
  expect(blocksAfter(blocks, undefined)!.blocks).toMatchObject([
    {
      type: 'table',
      rows: [
        [
          { span_id: 'b1/0/0', header: true, content: 'a &amp; b' },
          { span_id: 'b1/0/1', content: '<b>c</b>' },
        ],
      ],
    },
  ])
})
