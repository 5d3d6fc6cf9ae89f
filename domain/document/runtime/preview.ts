import type { ReadBlock } from '../../ports/index.ts'
import type { EnvelopeAnswer } from '../envelope/answers.ts'
import { judge } from '../envelope/judge.ts'
import { documentStream } from '../stream/aggregate.ts'
import { openAt } from './open-at.ts'
import type { ReplicaCache } from './replica-cache.ts'
import type { DocumentPorts } from './types.ts'

/** The current effect of a request: the document before and after it, or the refusal. */
export type EnvelopePreview =
  | { readonly title: string; readonly before: readonly ReadBlock[]; readonly after: readonly ReadBlock[] }
  | { readonly refused: Exclude<EnvelopeAnswer, { status: 200 }> }

/** Tries a request on a separate replica. Records nothing and leaves the document unchanged. */
export async function previewEnvelope(
  ports: DocumentPorts,
  cache: ReplicaCache,
  documentId: string,
  body: unknown,
): Promise<EnvelopePreview> {
  const opened = await openAt(ports, cache, documentStream(documentId), Number.MAX_SAFE_INTEGER)
  const replica = opened?.replica ?? null
  try {
    const { parse } = ports
    const verdict = judge(body, { parse, answered: () => null, document: replica, scope: [documentId, ''] })
    if (verdict.kind !== 'apply') return { refused: verdict.answer as Exclude<EnvelopeAnswer, { status: 200 }> }
    const before = replica!.blocks()
    replica!.edit(verdict.edits).keep()
    return { title: opened!.state.title, before, after: replica!.blocks() }
  } finally {
    replica?.close()
  }
}
