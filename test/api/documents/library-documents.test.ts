import { afterEach, beforeEach, expect, it } from 'vitest'
import { type AiEnvelopeRequest, contextHash, type KeepUp, openKeepUp } from '../../../api/index.ts'
import { Person } from '../../support/documents/person.ts'
import { freshFolders } from '../../support/folders.ts'

// Documents as a program uses them, and as an agent of a run does, on real adapters.

const script = {
  script: 1,
  turns: [
    { calls: [{ tool: 'create_document', arguments: { title: 'Plan', content: '# Plan\n\nFirst.' } }] },
    { calls: [{ tool: 'read_document', arguments: { doc_id: '$' + '{lastResult/doc_id}' } }] },
    {
      calls: [
        {
          tool: 'edit_document',
          arguments: {
            doc_id: '$' + '{lastResult/doc_id}',
            doc_frontier: '$' + '{lastResult/doc_frontier}',
            ops_xml:
              '<replace_spans><span span_id="$' + '{lastResult/blocks/1/span_id}">Second.</span></replace_spans>',
            preconditions: [
              {
                span_id: '$' + '{lastResult/blocks/1/span_id}',
                if_match_context_hash: '$' + '{lastResult/blocks/1/hash}',
              },
            ],
          },
        },
      ],
    },
    { calls: [{ tool: 'list_documents', arguments: {} }] },
    { calls: [{ tool: 'complete_task', arguments: { summary: '$' + '{lastResult}' } }] },
  ],
} as const

const SECRET = 'correct-horse-battery-staple-42'

let folders: ReturnType<typeof freshFolders>
let keepup: KeepUp
beforeEach(async () => {
  folders = freshFolders()
  keepup = await openKeepUp({ data: folders.data, by: 'ada', scripts: { writes: script as never } })
})
afterEach(async () => {
  await keepup.close()
  folders.remove()
})

it('a program makes, reads, edits and follows a document', async () => {
  const { documents } = keepup
  const made = await keepup.createDocument({ title: 'Plan', format: 'markdown', content: 'one' }, { key: 'k' })
  const id = made.documentId
  expect(
    (await keepup.createDocument({ title: 'Plan', format: 'markdown', content: 'one' }, { key: 'k' })).documentId,
  ).toBe(id)
  const { frontier, blocks } = await documents.read(id)
  const { id: span_id, hash } = blocks[0]!
  expect(hash).toBe(contextHash(span_id!, 'one'))
  const envelope: AiEnvelopeRequest = {
    doc_frontier: frontier,
    client_request_id: 'r1',
    ops_xml: `<replace_spans><span span_id="${span_id}">two</span></replace_spans>`,
    preconditions: [{ span_id: span_id!, if_match_context_hash: hash! }],
  }
  expect(await documents.send(id, envelope)).toMatchObject({ status: 200 })
  expect(await documents.send(id, { ...envelope, client_request_id: 'r2' })).toMatchObject({ status: 409 })
  const bob = new Person('77', (await documents.snapshot(id)).bytes)
  const { revision } = await documents.import(
    id,
    bob.change(() => bob.text(0).insert(0, 'x')),
    { by: 'bob' },
  )
  expect(await documents.text(id, 'markdown')).toBe('xtwo\n')
  expect(await documents.text(id, 'markdown', { revision: 1 })).toBe('one\n')
  const over = new AbortController()
  const seen: number[] = []
  for await (const update of documents.updates(id, { after: 1, signal: over.signal })) {
    seen.push(update.revision)
    if (update.revision === revision) break
  }
  over.abort()
  expect(seen).toEqual([3, revision])
  expect((await keepup.listDocumentHistory({ id })).entries.map(({ kind }) => kind)).toEqual([
    ...['created', 'created', 'applied', 'refused', 'imported'],
  ])
  expect((await keepup.compareDocumentRevisions({ id, a: 1, b: revision })).changes).toMatchObject([
    { before: 'one', after: 'xtwo' },
  ])
  expect((await keepup.blameDocument({ id })).sources.map(({ by }) => by.id)).toContain('bob')
  await keepup.eraseEnvelope({ id, revision: 5, reason: 'private' })
  expect(await keepup.verifyDocument({ id })).toMatchObject({
    ok: true,
    erased: [{ revision: 4, code: 'other', reason: 'private' }],
  })
  const listed = []
  for await (const one of keepup.rows('listDocuments')) listed.push(one.title)
  expect(listed).toEqual(['Plan'])
  await expect(documents.read('none')).rejects.toMatchObject({ code: 'DOCUMENT_UNKNOWN' })
  await expect(keepup.createDocument({ title: '' })).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
})

it('an agent makes and edits a document; its checkpoints name the frontiers, and blame names its calls', async () => {
  const { runId } = await keepup.start({ task: 'write', model: 'scripted:writes', policy: { mode: 'batch' } })
  expect(await keepup.drive(runId)).toMatchObject({ end: 'done' })
  const [document] = await Array.fromAsync(keepup.rows('listDocuments'))
  const { documentId, frontier } = document!
  expect(await keepup.documents.text(documentId, 'markdown')).toBe('# Plan\n\nSecond.\n')
  const [first, last] = [await keepup.checkpoint(runId, 1), await keepup.checkpoint(runId, 5)]
  expect(Object.keys(first!.documents)).toEqual([documentId])
  expect(first!.documents[documentId]).not.toBe(frontier)
  expect(last!.documents).toEqual({ [documentId]: frontier })
  const { sources } = await keepup.blameDocument({ id: documentId })
  expect(sources.map(({ toolCallId }) => toolCallId)).toEqual([`${runId}.t1.c0`, `${runId}.t3.c0`])
  expect(sources.every((one) => one.runId === runId)).toBe(true)
  const { value } = await keepup.services.read.run(runId)
  expect(JSON.stringify(value)).toContain(documentId)
  expect(await keepup.verifyRun({ id: runId })).toMatchObject({ ok: true })
})

it('a secret of the vault enters no document, by no way', async () => {
  await keepup.services.vault.set('SERVICE', SECRET)
  const { documents } = keepup
  for (const [format, content] of [
    ['markdown', `The value is **${SECRET.slice(0, 7)}**${SECRET.slice(7)}`],
    ['html', `<p>${SECRET}`],
  ] as const)
    await expect(keepup.createDocument({ title: 'T', format, content })).rejects.toMatchObject({
      code: 'CONTENT_REFUSED',
    })
  const { documentId } = await keepup.createDocument({ title: 'T', format: 'html', content: '<p>one' })
  const bob = new Person('77', (await documents.snapshot(documentId)).bytes)
  const update = bob.change(() => bob.text(0).insert(0, SECRET))
  await expect(documents.import(documentId, update)).rejects.toMatchObject({ code: 'UPDATE_HOLDS_SECRET' })
  expect(await documents.text(documentId, 'markdown')).toBe('one\n')
})
