import { setImmediate } from 'node:timers/promises'
import { parseMarkup } from '../../../adapters/loro/markup/parse-markup.ts'
import { DocumentError } from '../../../domain/document/errors.ts'
import type { Diagnostic } from '../../../domain/document/markup/diagnostics.ts'
import { contentOf } from '../../../domain/document/markup/document-html.ts'
import type { BlockContent } from '../../../domain/document/model/block.ts'

export interface Content {
  readonly blocks: readonly BlockContent[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Parses HTML or Markdown into the blocks of a new document. Rejects with `CONTENT_REFUSED`. */
export async function contentFrom(format: 'html' | 'markdown', text: string): Promise<Content> {
  const nodes = await parseMarkup(format, text)
  // Receiving, reading and writing a large content each take a while. Other requests are answered in between.
  await setImmediate()
  const content = contentOf(nodes)
  await setImmediate()
  if ('fault' in content) throw new DocumentError('CONTENT_REFUSED', content.fault)
  return content
}
