import { hex, keyFor } from '../../log/ids.ts'
import type { OpenDocument, TextRange } from '../../ports/index.ts'
import { inSteps, yielder } from '../../stream/runtime/yield-to-event-loop.ts'
import { DocumentError } from '../errors.ts'
import type { DocumentCommand } from '../stream/decide.ts'
import type { Anchor } from '../stream/events.ts'
import type { Thread } from '../stream/threads.ts'
import type { Chosen, Desk } from './document-desk.ts'
import { holdsSecret } from './holds-secret.ts'
import { KnownThreads } from './known-threads.ts'
import type { DocumentCaller, DocumentPorts } from './types.ts'

/** A range of a document, as people and agents name it. */
export interface Quoted {
  /** The id of a block or table cell. */
  readonly spanId: string
  /** The text of the range. Absent: the whole text of the span. */
  readonly quote?: string
  /** The start of the quote, in UTF-16 units. Absent: the span contains the quote once. */
  readonly start?: number
}

/** A comment or suggestion in the present document. */
export type ThreadNow = Thread & {
  /** The current range of its text. Null: the text was deleted. */
  readonly range: TextRange | null
  /** The text differs from the quoted one, so the suggestion can no longer be accepted. Comments are never outdated. */
  readonly outdated: boolean
}

export interface Discussed {
  readonly id: string
  readonly revision: number
}

type Limits = { readonly [T in 'text' | 'quote' | 'reason']: number }
/** The maximum lengths of texts, in UTF-16 units. */
export const MAX_TEXT: Limits = { text: 20_000, quote: 20_000, reason: 2_000 }

/**
 * Comments and suggestions on documents. A suggestion changes nothing until a person accepts it, and only while the text
 * that it replaces is unchanged.
 */
export class Discussions {
  readonly #ports: DocumentPorts
  readonly #threads: KnownThreads
  readonly #desk: (documentId: string) => Promise<Desk>

  /** @param desk rejects with `DOCUMENT_UNKNOWN` */
  constructor(ports: DocumentPorts, desk: (documentId: string) => Promise<Desk>) {
    this.#ports = ports
    this.#desk = desk
    this.#threads = new KnownThreads(ports)
  }

  /** All comments and suggestions in the order in which they were added, and the document's revision. */
  async list(documentId: string): Promise<{ readonly revision: number; readonly threads: readonly ThreadNow[] }> {
    const desk = await this.#desk(documentId)
    return desk.look(async (replica, { revision }) => {
      const threads = await this.#threads.upTo(documentId, revision)
      return { revision, threads: [...threads.values()].map((thread) => present(replica, thread)) }
    })
  }

  /** Adds a comment. Rejects with `QUOTE_REFUSED`, `CONTENT_REFUSED`, `TOO_MANY_COMMENTS`. `key`: see {@link threadId}. */
  comment(documentId: string, at: Quoted, text: string, caller: DocumentCaller, key?: string): Promise<Discussed> {
    return this.#add(documentId, at, [text], caller, key, (comment, anchor) => ({
      ...{ kind: 'comment', comment, anchor, text },
    }))
  }

  /** Makes a suggestion. Rejects like {@link comment}. `replacement` empty: delete the quote. */
  suggest(
    documentId: string,
    { replacement, reason, ...at }: Quoted & { readonly replacement: string; readonly reason?: string },
    caller: DocumentCaller,
    key?: string,
  ): Promise<Discussed> {
    return this.#add(documentId, at, [replacement, reason ?? ''], caller, key, (suggestion, anchor) => {
      if (anchor.quote === replacement)
        throw new DocumentError('CONTENT_REFUSED', 'the replacement is the same text; suggest another one')
      return { kind: 'suggest', suggestion, anchor, replacement, ...(reason === undefined ? {} : { reason }) }
    })
  }

  /** Replies to an open comment or suggestion. Rejects with `COMMENT_UNKNOWN`, `COMMENT_SETTLED`, `CONTENT_REFUSED`. */
  reply(documentId: string, thread: string, text: string, caller: DocumentCaller): Promise<Discussed> {
    return this.#settle(documentId, thread, null, [text], caller, () => ({ kind: 'reply', thread, text }))
  }

  /** Rejects with `COMMENT_UNKNOWN`, `COMMENT_SETTLED`. */
  resolve(documentId: string, comment: string, caller: DocumentCaller): Promise<Discussed> {
    return this.#settle(documentId, comment, 'comment', [], caller, () => ({ kind: 'resolve_comment', comment }))
  }

  /** Keeps the text. Rejects with `COMMENT_UNKNOWN`, `COMMENT_SETTLED`, `CONTENT_REFUSED`. */
  refuse(documentId: string, suggestion: string, reason: string, caller: DocumentCaller): Promise<Discussed> {
    const command = { kind: 'refuse_suggestion', suggestion, reason } as const
    return this.#settle(documentId, suggestion, 'suggestion', [reason], caller, () => command)
  }

  /**
   * Makes the suggested change as an edit of the caller. Rejects with `COMMENT_UNKNOWN`, `COMMENT_SETTLED`, and with
   * `SUGGESTION_OUTDATED` if the text differs from the quoted one.
   */
  async accept(documentId: string, suggestion: string, caller: DocumentCaller): Promise<Discussed> {
    const desk = await this.#desk(documentId)
    const revision = await desk.decide(caller, async ({ replica, revision }): Promise<Chosen> => {
      const thread = await this.#open(documentId, revision, suggestion, 'suggestion')
      const { replacement, anchor } = thread
      if (replacement === null || anchor.quote === null)
        throw new DocumentError('SUGGESTION_OUTDATED', 'the text of the suggestion was erased; refuse it')
      const { range, outdated } = present(replica, thread)
      if (range === null || outdated) throw outdatedError(range)
      const view = replica.span(anchor.span)
      const before = 'text' in view ? view.text : ''
      await this.#mustHoldNoSecret([before.slice(0, range.start) + replacement + before.slice(range.end)], caller)
      const { start, end } = range
      const edit = { kind: 'replace_range', spanId: anchor.span, start, end, text: replacement } as const
      const change = await inSteps(replica.editing([edit]), yielder(this.#ports.clock))
      return { command: { kind: 'accept_suggestion', suggestion, change }, change }
    })
    return { id: suggestion, revision }
  }

  async #add(
    documentId: string,
    at: Quoted,
    texts: readonly string[],
    caller: DocumentCaller,
    key: string | undefined,
    commandOf: (id: string, anchor: Anchor) => DocumentCommand,
  ): Promise<Discussed> {
    mustBeWellFormed(texts)
    await this.#mustHoldNoSecret(texts, caller)
    const id = this.#threadId(caller, key)
    const desk = await this.#desk(documentId)
    if (key !== undefined) {
      const made = (await this.#now(desk, documentId)).get(id)
      if (made !== undefined) return { id, revision: made.revision }
    }
    const revision = await desk.decide(caller, ({ replica }) => ({ command: commandOf(id, anchorFor(replica, at)) }))
    return { id, revision }
  }

  async #settle(
    documentId: string,
    id: string,
    kind: Thread['kind'] | null,
    texts: readonly string[],
    caller: DocumentCaller,
    commandOf: () => DocumentCommand,
  ): Promise<Discussed> {
    mustBeWellFormed(texts)
    await this.#mustHoldNoSecret(texts, caller)
    const desk = await this.#desk(documentId)
    const revision = await desk.decide(caller, async ({ revision }) => {
      await this.#open(documentId, revision, id, kind)
      return { command: commandOf() }
    })
    return { id, revision }
  }

  /** The open comment or suggestion. `kind` null: either. */
  async #open(documentId: string, revision: number, id: string, kind: 'suggestion'): Promise<Suggestion>
  async #open(documentId: string, revision: number, id: string, kind: Thread['kind'] | null): Promise<Thread>
  async #open(documentId: string, revision: number, id: string, kind: Thread['kind'] | null): Promise<Thread> {
    const found = (await this.#threads.upTo(documentId, revision)).get(id)
    if (found === undefined || (kind !== null && found.kind !== kind))
      throw new DocumentError('COMMENT_UNKNOWN', `the document has no ${kind ?? 'comment or suggestion'} "${id}"`)
    const { settled, status } = found
    if (settled === undefined) return found
    const why = `the ${found.kind} was ${status} by ${settled.by.id} at ${settled.at} (revision ${settled.revision})`
    throw new DocumentError('COMMENT_SETTLED', `${why}; read the document again`)
  }

  #now(desk: Desk, documentId: string): Promise<ReadonlyMap<string, Thread>> {
    return desk.look((_, { revision }) => this.#threads.upTo(documentId, revision))
  }

  /** A caller's key gives the same id again, so a repeated request adds nothing. */
  #threadId({ name }: DocumentCaller, key: string | undefined): string {
    if (key === undefined) return hex(this.#ports.random.bytes(8))
    return keyFor(this.#ports.log.logId, JSON.stringify(['thread', name, key])).slice(-32)
  }

  async #mustHoldNoSecret(texts: readonly string[], caller: DocumentCaller): Promise<void> {
    if (await holdsSecret(this.#ports, caller, texts))
      throw new DocumentError('CONTENT_REFUSED', 'the text holds a secret value; send it without')
  }
}

type Suggestion = Extract<Thread, { kind: 'suggestion' }>

function mustBeWellFormed(texts: readonly string[]): void {
  if (!texts.every((text) => text.isWellFormed()))
    throw new DocumentError('CONTENT_REFUSED', 'the text has half of a surrogate pair; send well-formed Unicode')
}

/** The thread with the current range of its text. */
function present(replica: OpenDocument, thread: Thread): ThreadNow {
  const range = replica.range(thread.anchor.span, thread.anchor)
  const stands = range === null || range.text === '' ? null : range
  const isOutdated = thread.kind === 'suggestion' && thread.status === 'open' && stands?.text !== thread.anchor.quote
  return { ...thread, range: stands, outdated: isOutdated }
}

const outdatedError = (range: TextRange | null) =>
  new DocumentError(
    'SUGGESTION_OUTDATED',
    `${range === null ? 'the text that it replaces was deleted' : `the text that it replaces is now ${JSON.stringify(range.text)}`}; refuse the suggestion, and make the change by hand if it still fits`,
  )

/** The anchor of a quoted range. Rejects with `QUOTE_REFUSED`. */
function anchorFor(replica: OpenDocument, { spanId, quote, start }: Quoted): Anchor {
  const view = replica.span(spanId)
  if (view.kind === 'missing' || view.kind === 'unreadable' || view.type === 'divider' || isTable(view))
    throw new DocumentError(
      'QUOTE_REFUSED',
      `the document has no text with the span id "${spanId}"; read it, and name a block or a table cell`,
    )
  const { text } = view
  const wanted = quote ?? text
  const at = quote === undefined ? 0 : placeOf(text, quote, start)
  if (wanted === '') throw new DocumentError('QUOTE_REFUSED', 'the quote is empty; quote the text that you mean')
  const anchor = replica.anchor(spanId, { start: at, end: at + wanted.length })
  return { span: spanId, ...anchor, quote: wanted }
}

const isTable = (view: { readonly kind: string; readonly type: string }) =>
  view.kind === 'block' && view.type === 'table'

/** The offset of a quote in a text. Rejects with `QUOTE_REFUSED`. */
function placeOf(text: string, quote: string, start: number | undefined): number {
  if (start !== undefined && text.startsWith(quote, start)) return start
  const first = text.indexOf(quote)
  if (first < 0)
    throw new DocumentError(
      'QUOTE_REFUSED',
      `the quote does not stand in the span, whose text is now ${JSON.stringify(text.slice(0, 500))}; quote it exactly`,
    )
  if (quote !== '' && text.indexOf(quote, first + 1) >= 0)
    throw new DocumentError(
      'QUOTE_REFUSED',
      'the quote stands in the span several times; quote more, or name its start',
    )
  return first
}
