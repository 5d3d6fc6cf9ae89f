import { toMarkdown } from '../../../domain/document/markup/markdown.ts'
import type { DocumentBlock } from '../../../domain/document/model/block.ts'
import type { DocumentGateway } from '../../../domain/document/runtime/gateway.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import type { ReadBlock } from '../../../domain/ports/index.ts'
import type { Patch } from '../files/diff/patch.ts'
import { patchApart } from '../files/diff/threaded-diff.ts'
import { condensed } from '../text/visible-text.ts'

/**
 * The changes by a call of `create_document` or `edit_document`, as a patch of Markdown. Null: another tool. If the
 * gateway would refuse the edit at present, shows its answer too.
 */
export async function documentPreview(
  toolName: string,
  args: JsonObject,
  documents: Pick<DocumentGateway, 'preview'>,
): Promise<Patch | null> {
  if (toolName === 'create_document' && typeof args.title === 'string' && typeof args.content === 'string')
    return patchApart(`new document (${args.title})`, '', args.content)
  if (toolName !== 'edit_document' || typeof args.doc_id !== 'string') return null
  const { doc_id, retry_of: _, ...payload } = args
  const found = await documents.preview(doc_id, { ...payload, client_request_id: 'preview' })
  if (!('refused' in found)) {
    return patchApart(`document ${doc_id} (${found.title})`, markdown(found.before), markdown(found.after))
  }
  const { status, body } = found.refused
  const why = status === 409 ? 'the document has changed since the agent read it' : body.message
  const note = `As document ${doc_id} is now, the gateway refuses this edit: ${status} ${body.code}, ${why}.`
  return { text: condensed(String(args.ops_xml)), notes: [note] }
}

const markdown = (blocks: readonly ReadBlock[]): string =>
  toMarkdown(blocks.filter((block): block is DocumentBlock => block.type !== 'unreadable'))
