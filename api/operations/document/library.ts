import type { z } from 'zod'
import type { Answer } from '../../../domain/document/envelope/answers.ts'
import type { AiEnvelopeRequest } from '../../../domain/document/envelope/request.ts'
import type { Blame, DocumentProof } from '../../../domain/document/runtime/history.ts'
import type { Imported } from '../../../domain/document/runtime/types.ts'
import type { HistoryEntry } from '../../../domain/document/stream/entry.ts'
import { updateBytes } from '../../../domain/document/stream/events.ts'
import type { Actor } from '../../../domain/log/envelope.ts'
import { pages } from '../../library/lists.ts'
import type { Saying } from '../../library/sender.ts'
import { mustWrite } from '../runs/record-command.ts'
import type { Services } from '../services.ts'
import { createDocument, personOf } from './create-document.ts'
import { type DocumentPoint, documentAt, documentDiff, verifyDocument } from './history.ts'
import type {
  CreateDocument,
  DocumentCreated,
  DocumentDiff,
  DocumentSummary,
  DocumentView,
  EraseEnvelope,
} from './schemas.ts'
import { CreateDocument as CreateSchema, EraseEnvelope as EraseSchema } from './schemas.ts'
import { documentUpdates, mustReach } from './updates.ts'
import { asText, documentView } from './view.ts'

/** An update of a document, for import by another peer. `at`: ISO 8601. */
export interface DocumentUpdate {
  readonly revision: number
  readonly at: string
  readonly by: Actor
  readonly frontier: string
  /** For `import` of a Loro document. */
  readonly update: Uint8Array
}

/** Documents that people and agents edit together. Methods reject with errors that have a stable `code`. */
export interface DocumentsApi {
  /**
   * Creates a document: empty, or from Markdown or HTML. A repeated request with the same key returns the same
   * document.
   */
  create(asked: Omit<z.input<typeof CreateSchema>, 'by'>, saying?: Saying): Promise<DocumentCreated>
  /** Documents in the order of their creation, read page by page on demand. */
  list(): AsyncIterable<DocumentSummary>
  /** A document now, or at a point of its history: its blocks, each with the hash for preconditions. */
  read(documentId: string, at?: DocumentPoint): Promise<DocumentView>
  /** The document as text. */
  text(documentId: string, format: 'markdown' | 'html', at?: DocumentPoint): Promise<string>
  /** The present document as a Loro snapshot with its history. */
  snapshot(documentId: string): Promise<{ readonly revision: number; readonly bytes: Uint8Array }>
  /** Sends an AI envelope (seed 000, 5.8). Returns refusals and conflicts as answers. Each is recorded. */
  send(documentId: string, envelope: AiEnvelopeRequest, saying?: Pick<Saying, 'by'>): Promise<Answer>
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
  /** Requests with their answers, and updates by people, after a revision (absent: from the start), at most 500. */
  history(documentId: string, after?: number): Promise<readonly HistoryEntry[]>
  /**
   * The person, or the request, run and call, that wrote each part of each span. Without a revision: of the present
   * document.
   */
  blame(documentId: string, revision?: number): Promise<Blame>
  /** The blocks that differ between two revisions. */
  diff(documentId: string, a: number, b: number): Promise<DocumentDiff>
  /** Verifies the chain, the bodies and the digests, and replays the updates to the recorded frontier. */
  verify(documentId: string): Promise<DocumentProof>
  /** Erases a request permanently. The text that it wrote stays in the document. */
  erase(
    documentId: string,
    what: Omit<EraseEnvelope, 'by'>,
    saying?: Pick<Saying, 'by'>,
  ): Promise<{ readonly revision: number }>
}

/** Entries of a history per read. */
const ENTRIES = 500

interface Asking {
  /** Validates the person's name, or returns the default. */
  asker(said: string | undefined): string
  /** Parses a value with a schema. Throws INVALID_REQUEST. */
  parsed<T extends z.ZodType>(schema: T, value: unknown): z.output<T>
  /** Aborts when the library is closed. */
  readonly ending: AbortSignal
}

/** The library's interface to the documents of built services. */
export function documentsOf(s: Services, { asker, parsed, ending }: Asking): DocumentsApi {
  const person = (saying: Pick<Saying, 'by'> | undefined) => {
    mustWrite(s)
    return personOf(asker(saying?.by))
  }
  return {
    async create(asked, { by, key } = {}) {
      const checked: CreateDocument = { ...parsed(CreateSchema, asked), by: asker(by) }
      return (await createDocument(s, checked, key === undefined ? {} : { key })).created
    },
    async *list() {
      await s.read.caughtUp()
      yield* pages(async (after) => {
        const { value } = await s.read.documents({ limit: 100, ...after })
        return { rows: value.documents, next: value.next }
      })
    },
    read: async (id, at = {}) => documentView(await documentAt(s, id, at)),
    text: async (id, format, at = {}) => asText(format, await documentAt(s, id, at)),
    snapshot: (id) => s.documents.snapshot(id),
    send: async (id, envelope, saying) => s.documents.envelope(id, envelope, person(saying)),
    import: async (id, update, saying) => s.documents.import(id, update, person(saying)),
    async *updates(id, { after = -1, signal } = {}) {
      await mustReach(s, id, after)
      const over = signal === undefined ? ending : AbortSignal.any([signal, ending])
      for await (const event of documentUpdates(s, id, after, over)) {
        const { revision, at, actor: by, body } = event
        yield { revision, at: new Date(at).toISOString(), by, frontier: body.frontier, update: updateBytes(event) }
      }
    },
    history: (id, after = -1) => s.documents.history.entries(id, after, ENTRIES),
    blame: (id, revision = Number.MAX_SAFE_INTEGER) => s.documents.history.blame(id, revision),
    diff: (id, a, b) => documentDiff(s, id, a, b),
    verify: (id) => verifyDocument(s, id),
    erase: async (id, what, saying) => {
      const { by: _, ...checked } = parsed(EraseSchema, what)
      return s.documents.erase(id, checked, person(saying))
    },
  }
}
