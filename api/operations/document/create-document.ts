import { keyedCommand } from '../../../domain/log/ids.ts'
import { keyedRunId, untilShown } from '../runs/idempotency.ts'
import { mustWrite } from '../runs/record-command.ts'
import { actorOf, type RequestOptions, tracing } from '../runs/request-options.ts'
import type { Services } from '../services.ts'
import { contentFrom } from './content.ts'
import type { CreateDocument, DocumentCreated } from './schemas.ts'

/** Creates a document. A repeated request with the same key returns the same document; `made` is then false. */
export async function createDocument(
  s: Services,
  asked: CreateDocument,
  options: RequestOptions,
): Promise<{ readonly made: boolean; readonly created: DocumentCreated }> {
  mustWrite(s)
  const { title, format, content = '', by } = asked
  const key = options.key === undefined ? undefined : keyOf(s, options.key, asked)
  const read = format === 'empty' ? { blocks: [], diagnostics: [] } : await contentFrom(format, content)
  const caller = personOf(by, options)
  const { documentId, made } = await s.documents.create({ title, source: format, blocks: read.blocks }, caller, key)
  const { revision, frontier } = await s.documents.read(documentId)
  await untilShown(s)
  return { made, created: { documentId, revision, frontier, diagnostics: [...read.diagnostics] } }
}

/** The person of a request. */
export const personOf = (by: string | undefined, options: RequestOptions) => {
  const actor = actorOf('user', by, options)
  return { by: actor, name: `user:${actor.id}`, ...tracing(options) }
}

const keyOf = (s: Services, key: string, asked: CreateDocument) => ({
  documentId: keyedRunId(s, 'document', key),
  commandId: keyedCommand(s.log.logId, `document\n${key}`, asked),
})
