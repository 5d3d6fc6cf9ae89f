import { describe, expect, it } from 'vitest'
import { rebase } from '../../../domain/document/envelope/after-conflict.ts'
import { attemptOf, retryDelayMs, retryId } from '../../../domain/document/envelope/retry-delay.ts'
import { contextHash } from '../../../domain/document/model/context-hash.ts'
import { condition, documentWith } from '../../support/documents/gateway.ts'

describe('retries', () => {
  it('wait 100 ms, then twice as long each time, at most 5 s', () => {
    expect([1, 2, 3, 4, 6, 7, 60].map(retryDelayMs)).toEqual([100, 200, 400, 800, 3200, 5000, 5000])
  })

  it('have ids of their own, which name the first request', () => {
    expect(retryId('r', 2)).toBe('r-retry-2')
    expect(['r', 'r-retry-2', 'r-retry-x', 'r-retry-0', '-retry-1'].map((id) => attemptOf(id))).toEqual([
      { first: 'r', retry: 0 },
      { first: 'r', retry: 2 },
      { first: 'r-retry-x', retry: 0 },
      { first: 'r-retry-0', retry: 0 },
      { first: '-retry-1', retry: 0 },
    ])
  })
})

describe('a rebase', () => {
  const start = async (id = 'r') => {
    const { document } = await documentWith('<p>a</p><p>b</p>')
    const preconditions = ['b1', 'b2'].map((span) => condition(document, span))
    const request = { client_request_id: id, doc_frontier: '7:9', ops_xml: '<x/>', preconditions }
    return { document, request }
  }

  it('is mechanical where every text is as the request knew it', async () => {
    const { document, request } = await start()
    document.edit([{ kind: 'insert', after: 'b2', blocks: [{ id: 'n', type: 'divider', attrs: {} }] }]).keep()
    expect(rebase(request, document)).toEqual({
      kind: 'mechanical',
      request: { ...request, client_request_id: 'r-retry-1', doc_frontier: document.frontier },
      delayMs: 100,
    })
  })

  it('asks the model where a text has changed or a span is gone, with what there is now', async () => {
    const { document, request } = await start('r-retry-1')
    document.edit([{ kind: 'replace', spanId: 'b1', runs: [{ text: 'new', marks: {} }] }]).keep()
    expect(rebase(request, document)).toEqual({
      kind: 'ask',
      retryId: 'r-retry-2',
      delayMs: 200,
      frontier: document.frontier,
      spans: [
        { spanId: 'b1', state: 'changed', text: 'new', hash: contextHash('b1', 'new') },
        { spanId: 'b2', state: 'unchanged', text: 'b', hash: contextHash('b2', 'b') },
      ],
    })
    document.edit([{ kind: 'delete', blockId: 'b1' }]).keep()
    expect(rebase(request, document)).toMatchObject({ spans: [{ spanId: 'b1', state: 'span_missing' }, {}] })
  })

  it('is not made after the third retry', async () => {
    const { document, request } = await start('r-retry-3')
    expect(rebase(request, document)).toEqual({ kind: 'exhausted', code: 'RETRY_EXHAUSTED', attempts: 4 })
  })
})
