import type { z } from 'zod'
import { toMarkdown } from '../../../domain/document/markup/markdown.ts'
import type { DocumentBlock } from '../../../domain/document/model/block.ts'
import { blockChanges } from '../../../domain/document/model/changes.ts'
import type { DocumentProof } from '../../../domain/document/runtime/history.ts'
import type { DocumentAt } from '../../../domain/document/runtime/types.ts'
import { documentStream } from '../../../domain/document/stream/aggregate.ts'
import { Problem } from '../problem.ts'
import { mustWrite } from '../runs/record-command.ts'
import type { RequestOptions } from '../runs/request-options.ts'
import type { Services } from '../services.ts'
import { asStored, NOTHING, type WithHeads } from '../streams/prove-stream.ts'
import { personOf } from './create-document.ts'
import type { DocumentDiff, EraseEnvelope, HistoryQuery } from './schemas.ts'

/** A point of a document's history. Without members: the head. */
export interface DocumentPoint {
  readonly revision?: number | undefined
  /** ISO 8601. */
  readonly time?: string | undefined
}

/** The document at a point. Rejects with `DOCUMENT_UNKNOWN`, or with `POINT_UNKNOWN` if the point does not exist. */
export async function documentAt(
  s: Services,
  documentId: string,
  { revision, time }: DocumentPoint,
): Promise<DocumentAt> {
  if (revision === undefined && time === undefined) return s.documents.read(documentId)
  const at = time === undefined ? revision! : await revisionAt(s, documentId, Date.parse(time))
  const found = await s.documents.history.at(documentId, at)
  if (found.revision === at) return found
  const what = `the document is at revision ${found.revision}; ask for that one, or an earlier one`
  throw new Problem('POINT_UNKNOWN', what)
}

/** The last revision up to a time, in ms since the epoch. */
async function revisionAt({ log }: Services, documentId: string, time: number): Promise<number> {
  let last = -1
  let born: string | null = null
  for await (const page of log.read(documentStream(documentId), { bodies: false })) {
    for (const { header } of page) {
      born ??= header.timestamp
      if (Date.parse(header.timestamp) > time) break
      last = header.revision
    }
  }
  if (born === null || last >= 0) return Math.max(last, 0)
  throw new Problem('POINT_UNKNOWN', `the document was created at ${born}; ask for that time, or a later one`)
}

/** Entries of a document's history. `next`: the revision of the last entry; null: this is the last page. */
export async function documentHistory(
  s: Services,
  documentId: string,
  { after = -1, limit }: z.output<typeof HistoryQuery>,
) {
  const entries = await s.documents.history.entries(documentId, after, limit)
  return { entries, next: entries.length < limit ? null : String(entries.at(-1)!.revision) }
}

/** Empties a request for ever. Rejects with `READ_ONLY`, `DOCUMENT_UNKNOWN`. */
export async function eraseEnvelope(
  s: Services,
  documentId: string,
  { by, ...what }: EraseEnvelope,
  options: RequestOptions,
) {
  mustWrite(s)
  return s.documents.erase(documentId, what, personOf(by, options))
}

/** The blocks that differ between two revisions, as Markdown. Rejects like {@link documentAt}. */
export async function documentDiff(s: Services, documentId: string, a: number, b: number): Promise<DocumentDiff> {
  const [before, after] = [
    await documentAt(s, documentId, { revision: a }),
    await documentAt(s, documentId, { revision: b }),
  ]
  const changes = blockChanges(readable(before), readable(after)).map((change) => {
    const text = (block: DocumentBlock) => toMarkdown([block]).trimEnd()
    const { id, type } = 'after' in change ? change.after : change.before
    return {
      ...{ change: change.change, span_id: id, type },
      ...('before' in change ? { before: text(change.before) } : {}),
      ...('after' in change ? { after: text(change.after) } : {}),
      ...('moved' in change && change.moved ? { moved: true as const } : {}),
    }
  })
  return { documentId, a, b, changes }
}

/** Verifies a document like `asStored`, and that its updates lead to the recorded frontier. */
export const verifyDocument = (s: Services, documentId: string): Promise<WithHeads<DocumentProof>> =>
  asStored(s, documentStream(documentId), () => s.documents.history.verify(documentId), {
    ...NOTHING,
    frontier: '',
    root: '',
  })

const readable = ({ blocks }: DocumentAt): readonly DocumentBlock[] =>
  blocks.filter((block): block is DocumentBlock => block.type !== 'unreadable')
