import type { EnvelopeAnswer } from '../../../domain/document/envelope/answers.ts'
import type { AiEnvelopeRequest } from '../../../domain/document/envelope/request.ts'
import type { Imported } from '../../../domain/document/runtime/types.ts'
import { updateBytes } from '../../../domain/document/stream/events.ts'
import type { Actor } from '../../../domain/log/envelope.ts'
import type { Callers, Saying } from '../../library/sender.ts'
import { mustWrite } from '../runs/record-command.ts'
import type { Services } from '../services.ts'
import { personOf } from './create-document.ts'
import { type DocumentPoint, documentAt } from './history.ts'
import type { DocumentView } from './schemas.ts'
import { documentUpdates, mustReach } from './updates.ts'
import { documentText, documentView } from './view.ts'

/** An update of a document, for import by another peer. `at`: ISO 8601. */
export interface DocumentUpdate {
  readonly revision: number
  readonly at: string
  readonly by: Actor
  readonly frontier: string
  /** For `import` of a Loro document. */
  readonly update: Uint8Array
}

/**
 * The content of documents, and its changes, beside the operations on documents. Methods reject with errors that have a stable `code`.
 */
export interface DocumentsApi {
  /** A document now, or at a point of its history: its blocks, each with the hash for preconditions. */
  read(documentId: string, at?: DocumentPoint): Promise<DocumentView>
  /** The document as text. */
  text(documentId: string, format: 'markdown' | 'html', at?: DocumentPoint): Promise<string>
  /** The present document as a Loro snapshot with its history. */
  snapshot(documentId: string): Promise<{ readonly revision: number; readonly bytes: Uint8Array }>
  /** Sends an AI envelope (seed 000, 5.8). Returns refusals and conflicts as answers. Each is recorded. */
  send(documentId: string, envelope: AiEnvelopeRequest, saying?: Pick<Saying, 'by'>): Promise<EnvelopeAnswer>
  /** Imports an update of a person's Loro replica, at most 1 MiB. */
  import(documentId: string, update: Uint8Array, saying?: Pick<Saying, 'by'>): Promise<Imported>
  /**
   * The updates after a revision (absent: all), then new ones, until the signal aborts or {@link KeepUp.close}. Rejects
   * with CURSOR_MISMATCH for a revision that the document has not reached, as after a restore.
   */
  updates(
    documentId: string,
    options?: { readonly after?: number; readonly signal?: AbortSignal },
  ): AsyncIterable<DocumentUpdate>
}

interface Asking {
  readonly callers: Callers
  /** Aborts when the library is closed. */
  readonly ending: AbortSignal
}

/** The library's interface to the documents of built services. */
export function documentsOf(s: Services, { callers, ending }: Asking): DocumentsApi {
  const person = async (saying: Pick<Saying, 'by'> | undefined) => {
    mustWrite(s)
    const { by, options } = await callers.caller(saying?.by, {
      right: 'documents.write',
      operation: 'writeDocument',
      run: null,
    })
    return personOf(by, options)
  }
  const mustMayRead = async (): Promise<void> => {
    await callers.caller(undefined, { right: 'documents.read', operation: 'readDocument', run: null })
  }
  return {
    async read(id, at = {}) {
      await mustMayRead()
      return documentView(await documentAt(s, id, at))
    },
    async text(id, format, at = {}) {
      await mustMayRead()
      return documentText(format, await documentAt(s, id, at))
    },
    async snapshot(id) {
      await mustMayRead()
      return s.documents.snapshot(id)
    },
    send: async (id, envelope, saying) => s.documents.envelope(id, envelope, await person(saying)),
    import: async (id, update, saying) => s.documents.import(id, update, await person(saying)),
    async *updates(id, { after = -1, signal } = {}) {
      await mustMayRead()
      await mustReach(s, id, after)
      const over = signal === undefined ? ending : AbortSignal.any([signal, ending])
      for await (const event of documentUpdates(s, id, after, over)) {
        const { revision, at, actor: by, body } = event
        yield { revision, at: new Date(at).toISOString(), by, frontier: body.frontier, update: updateBytes(event) }
      }
    },
  }
}
