import { hex, keyFor } from '../../log/ids.ts'
import type { OpenDocument, TextRange } from '../../ports/index.ts'
import { inSteps, yielder } from '../../stream/runtime/yield-to-event-loop.ts'
import { DocumentError } from '../errors.ts'
import type { DocumentCommand } from '../stream/decide.ts'
import type { Anchor } from '../stream/events.ts'
import type { Thread } from '../stream/threads.ts'
import type { Chosen, Desk, Recorded } from './document-desk.ts'
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
  /** The current range of its text. Null: the text was deleted, or the thread is settled. */
  readonly range: TextRange | null
  /** The text differs from the quoted one, so the suggestion can no longer be accepted. Comments are never outdated. */
  readonly outdated: boolean
}

export interface Discussed {
  readonly id: string
  readonly revision: number
}

/** A part of the comments and suggestions of a document. */
export interface Listed {
  readonly status: 'open' | 'all'
  /** `newest`: the last added first. */
  readonly order?: 'oldest' | 'newest'
  /** The id of the thread before the first one. Absent: from the start. */
  readonly after?: string | undefined
  readonly limit: number
}

export interface ThreadPage {
  readonly revision: number
  readonly threads: readonly ThreadNow[]
  /** The number of settled threads of the document. */
  readonly settled: number
  /** The `after` of the next page; null: this is the last one. */
  readonly next: string | null
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

  /** A page of the comments and suggestions, and the document's revision. Rejects with `COMMENT_UNKNOWN` for `after`. */
  async list(documentId: string, { status, order, after, limit }: Listed): Promise<ThreadPage> {
    const desk = await this.#desk(documentId)
    return desk.look(async (replica, { revision }) => {
      const known = [...(await this.#threads.upTo(documentId, revision)).values()]
      const ordered = order === 'newest' ? known.toReversed() : known
      const from = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1
      if (after !== undefined && from === 0) throw unknownThread(after, null)
      const wanted = ordered.slice(from).filter((thread) => status === 'all' || thread.status === 'open')
      const threads = wanted.slice(0, limit).map((thread) => present(replica, thread))
      const settled = known.filter((thread) => thread.status !== 'open').length
      return { revision, threads, settled, next: wanted.length > limit ? threads.at(-1)!.id : null }
    })
  }

  /** Drops the texts in memory after an erasure. */
  forget(documentId: string): Promise<void> {
    return this.#threads.forget(documentId)
  }

  /**
   * Adds a comment. Rejects with `QUOTE_REFUSED`, `CONTENT_REFUSED`, `TOO_MANY_COMMENTS`. `key` identifies a request of the
   * caller: its repetition adds nothing, and another request with this key rejects with `IDEMPOTENCY_KEY_REUSED`.
   */
  comment(documentId: string, at: Quoted, text: string, caller: DocumentCaller, key?: string): Promise<Discussed> {
    return this.#add(documentId, at, [text], caller, key, {
      isSame: (made) => made.kind === 'comment' && isSameText(made.text, text),
      commandOf: (comment, anchor) => ({ kind: 'comment', comment, anchor, text }),
    })
  }

  /** Makes a suggestion. Rejects like {@link comment}. `replacement` empty: delete the quote. */
  suggest(
    documentId: string,
    { replacement, reason, ...at }: Quoted & { readonly replacement: string; readonly reason?: string },
    caller: DocumentCaller,
    key?: string,
  ): Promise<Discussed> {
    return this.#add(documentId, at, [replacement, reason ?? ''], caller, key, {
      isSame: (made) =>
        made.kind === 'suggestion' &&
        isSameText(made.replacement, replacement) &&
        (made.replacement === null || made.reason === reason),
      commandOf(suggestion, anchor) {
        if (anchor.quote === replacement)
          throw new DocumentError('CONTENT_REFUSED', 'the replacement is the same text; suggest another one')
        return { kind: 'suggest', suggestion, anchor, replacement, ...(reason === undefined ? {} : { reason }) }
      },
    })
  }

  /**
   * Replies to an open comment or suggestion. Rejects with `COMMENT_UNKNOWN`, `COMMENT_SETTLED`, `CONTENT_REFUSED`. `key`:
   * see {@link comment}.
   */
  async reply(
    documentId: string,
    thread: string,
    text: string,
    caller: DocumentCaller,
    key?: string,
  ): Promise<Discussed> {
    await this.#mustBeSafe([text], caller)
    const desk = await this.#desk(documentId)
    const commandId = key === undefined ? undefined : this.#keyed('reply', caller, key)
    const choose = async ({ revision }: { readonly revision: number }): Promise<Chosen | Recorded> => {
      const made = commandId === undefined ? null : await this.#threads.replyOf(documentId, revision, commandId)
      if (made !== null) {
        const replies = (await this.#threads.upTo(documentId, revision)).get(thread)?.replies ?? []
        if (!replies.some((one) => one.revision === made && isSameText(one.text, text))) throw keyReused()
        return { recorded: made }
      }
      await this.#open(documentId, revision, thread, null)
      return { command: { kind: 'reply', thread, text } }
    }
    return { id: thread, revision: await desk.decide(caller, choose, commandId) }
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
    { isSame, commandOf }: Adding,
  ): Promise<Discussed> {
    await this.#mustBeSafe(texts, caller)
    const id = key === undefined ? hex(this.#ports.random.bytes(8)) : this.#keyed('thread', caller, key).slice(-32)
    const desk = await this.#desk(documentId)
    const revision = await desk.decide(caller, async ({ replica, revision }) => {
      const made = key === undefined ? undefined : (await this.#threads.upTo(documentId, revision)).get(id)
      if (made === undefined) return { command: commandOf(id, anchorFor(replica, at)) }
      if (!isSame(made) || !isAbout(replica, made.anchor, at)) throw keyReused()
      return { recorded: made.revision }
    })
    return { id, revision }
  }

  async #settle(
    documentId: string,
    id: string,
    kind: Thread['kind'],
    texts: readonly string[],
    caller: DocumentCaller,
    commandOf: () => DocumentCommand,
  ): Promise<Discussed> {
    await this.#mustBeSafe(texts, caller)
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
    if (found === undefined || (kind !== null && found.kind !== kind)) throw unknownThread(id, kind)
    const { settled, status } = found
    if (settled === undefined) return found
    const why = `the ${found.kind} was ${status} by ${settled.by.id} at ${settled.at} (revision ${settled.revision})`
    throw new DocumentError('COMMENT_SETTLED', `${why}; read the document again`)
  }

  /** The command id of a caller's request. It says nothing of the text, which can be erased. */
  #keyed(what: 'thread' | 'reply', { name }: DocumentCaller, key: string): string {
    return keyFor(this.#ports.log.logId, JSON.stringify([what, name, key]))
  }

  async #mustBeSafe(texts: readonly string[], caller: DocumentCaller): Promise<void> {
    mustBeWellFormed(texts)
    await this.#mustHoldNoSecret(texts, caller)
  }

  async #mustHoldNoSecret(texts: readonly string[], caller: DocumentCaller): Promise<void> {
    if (await holdsSecret(this.#ports, caller, texts))
      throw new DocumentError('CONTENT_REFUSED', 'the text holds a secret value; send it without')
  }
}

interface Adding {
  /** Whether a thread with the id of the request was made by the same request. */
  isSame(made: Thread): boolean
  commandOf(id: string, anchor: Anchor): DocumentCommand
}

/** Of an erased text nothing is left to compare. */
const isSameText = (made: string | null, asked: string): boolean => made === null || made === asked

/**
 * Whether a request can have given this anchor. Edits since then can have moved its text, so another start counts only
 * while the quote stands there.
 */
function isAbout(replica: OpenDocument, anchor: Anchor, { spanId, quote, start }: Quoted): boolean {
  if (anchor.span !== spanId) return false
  if (quote === undefined) return true
  if (!isSameText(anchor.quote, quote)) return false
  const view = replica.span(spanId)
  const canCompare = start !== undefined && 'text' in view && typeof view.text === 'string'
  if (!canCompare || !view.text.startsWith(quote, start)) return true
  return replica.anchor(spanId, { start, end: start + quote.length }).start === anchor.start
}

const keyReused = () =>
  new DocumentError('IDEMPOTENCY_KEY_REUSED', 'this key came with another request before; draw a new one')

/** `kind` null: a comment or a suggestion. */
const unknownThread = (id: string, kind: Thread['kind'] | null) =>
  new DocumentError('COMMENT_UNKNOWN', `the document has no ${kind ?? 'comment or suggestion'} "${id}"`)

type Suggestion = Extract<Thread, { kind: 'suggestion' }>

function mustBeWellFormed(texts: readonly string[]): void {
  if (!texts.every((text) => text.isWellFormed()))
    throw new DocumentError('CONTENT_REFUSED', 'the text has half of a surrogate pair; send well-formed Unicode')
}

/** The thread with the current range of its text, while it is open. */
function present(replica: OpenDocument, thread: Thread): ThreadNow {
  if (thread.status !== 'open') return { ...thread, range: null, outdated: false }
  const range = replica.range(thread.anchor.span, thread.anchor)
  const stands = range === null || range.text === '' ? null : range
  const isOutdated = thread.kind === 'suggestion' && stands?.text !== thread.anchor.quote
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
