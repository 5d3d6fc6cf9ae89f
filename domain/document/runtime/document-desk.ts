import { hex } from '../../log/ids.ts'
import type { ImportedChange, OpenDocument, PendingChange } from '../../ports/index.ts'
import type { CausedContext } from '../../stream/emitter.ts'
import { type Asking, Mailbox } from '../../stream/runtime/mailbox.ts'
import { inSteps, type YieldToEventLoop, yielder } from '../../stream/runtime/yield-to-event-loop.ts'
import { applied, type EnvelopeAnswer, refused } from '../envelope/answers.ts'
import { type EnvelopeContext, judging, type Verdict } from '../envelope/judge.ts'
import { DocumentError } from '../errors.ts'
import type { DocumentAggregate } from '../stream/aggregate.ts'
import type { DocumentCommand } from '../stream/decide.ts'
import type { DocumentEvent } from '../stream/events.ts'
import type { DocumentState } from '../stream/state.ts'
import { Answers, commandOf, type GivenAnswer } from './answers.ts'
import { askingOf, contention, MAX_RACES } from './asking.ts'
import { holdsSecret, wordsOfEdits } from './holds-secret.ts'
import { Arrivals } from './new-updates.ts'
import { openAt } from './open-at.ts'
import { personFault } from './person-fault.ts'
import { idIn, RawBody, receivedOf } from './received-body.ts'
import { REPLICA_EVERY, type ReplicaCache } from './replica-cache.ts'
import { snapshotsOf } from './state-snapshots.ts'
import type { DocumentAt, DocumentCaller, DocumentPorts, Imported } from './types.ts'

/** The document at the stream's last revision. `replica` null: the stream contains no document. */
interface Current {
  readonly revision: number
  readonly state: DocumentState | null
  readonly replica: OpenDocument | null
}

type AtDocument = { readonly [K in keyof Current]: NonNullable<Current[K]> }

/** A decision on the current document. `change`: on the replica, for a command that changes the document. */
export interface Chosen {
  readonly command: DocumentCommand
  readonly change?: PendingChange
}

/** The request was recorded at this revision before. */
export interface Recorded {
  readonly recorded: number
}

/**
 * Handles the requests of one stream, one at a time, with a replica of its document. Judges a request at the stream's
 * last revision, makes the edit on the replica, and appends with that expected revision. If another process appended
 * first, discards the edit and judges the request again.
 */
export class Desk {
  readonly #ports: DocumentPorts
  readonly #stream: string
  readonly #cache: ReplicaCache
  readonly #mailbox: Mailbox<DocumentState, DocumentEvent, DocumentCommand, CausedContext>
  readonly #arrivals: Arrivals
  readonly #answers: Answers
  readonly #ofDocument: boolean
  #replica: OpenDocument | null = null
  #keptAt = 0
  #queue: Promise<unknown> = Promise.resolve()

  constructor(ports: DocumentPorts, aggregate: DocumentAggregate, stream: string, cache: ReplicaCache) {
    this.#ports = ports
    this.#stream = stream
    this.#cache = cache
    this.#ofDocument = aggregate.kind === 'document'
    this.#answers = new Answers(ports, stream)
    this.#arrivals = new Arrivals((event) => this.#answers.note(event))
    this.#mailbox = new Mailbox(aggregate, snapshotsOf(aggregate), stream, ports, this.#arrivals)
  }

  /** Whether the stream exists. */
  exists(): Promise<boolean> {
    return this.#enqueue(async () => {
      await this.#mailbox.refresh()
      return this.#mailbox.head !== null
    })
  }

  create(
    command: Extract<DocumentCommand, { kind: 'create' }>,
    commandId: string,
    caller: DocumentCaller,
  ): Promise<void> {
    return this.#enqueue(async () => {
      await this.#mailbox.submit(command, askingOf(caller, commandId), { fact: false, expected: -1 })
    })
  }

  /** Answers a request and records both in one append. A repeated request is not recorded again. */
  envelope(documentId: string, body: unknown, caller: DocumentCaller): Promise<EnvelopeAnswer> {
    return this.#enqueue(async () => {
      const pause = yielder(this.#ports.clock)
      for (let tries = 1; tries <= MAX_RACES; tries++) {
        const now = await this.#current()
        const verdict = await this.#judged(documentId, body, caller, now, pause)
        if (verdict.kind === 'repeat') return verdict.answer
        const answer = await this.#answer(documentId, body, caller, now, verdict, pause)
        if (answer !== null) return answer
      }
      throw contention(this.#stream)
    })
  }

  /** The earlier answer to a caller's request, or null. */
  answered(
    documentId: string,
    clientRequestId: string,
    caller: Pick<DocumentCaller, 'name'>,
  ): Promise<GivenAnswer | null> {
    return this.#enqueue(async () => {
      await this.#mailbox.refresh()
      return this.#given(documentId, clientRequestId, caller, this.#mailbox.head?.revision ?? -1)
    })
  }

  /** Imports and records an update of a person's replica. Rejects with a `DocumentError` if the update is refused. */
  import(update: Uint8Array, caller: DocumentCaller): Promise<Imported> {
    return this.#enqueue(async () => {
      for (let tries = 1; tries <= MAX_RACES; tries++) {
        const { replica, revision } = mustBeDocument(await this.#current())
        const found = await this.#using(() => replica.import(update))
        if (found.kind === 'refused') throw personFault(found)
        if (found.kind === 'known') return { revision, frontier: replica.frontier, recorded: false }
        const { change } = found
        const { frontier } = change
        await this.#mustHoldNoSecret(found, caller)
        const asking = askingOf(caller, this.#unkeyed())
        const recorded = await this.#record({ kind: 'import', change }, asking, revision, change)
        if (recorded !== null) return { revision: recorded, frontier, recorded: true }
      }
      throw contention(this.#stream)
    })
  }

  /**
   * Records the command that `choose` gives for the current document, and keeps its change. Calls `choose` again if
   * another writer appends first. Returns the revision of the last event. `commandId` identifies a request that may be
   * repeated; `choose` then looks for the earlier one.
   */
  decide(
    caller: DocumentCaller,
    choose: (at: AtDocument) => Promise<Chosen | Recorded>,
    commandId: string = this.#unkeyed(),
  ): Promise<number> {
    return this.#enqueue(async () => {
      for (let tries = 1; tries <= MAX_RACES; tries++) {
        const at = mustBeDocument(await this.#current())
        const chosen = await choose(at)
        if ('recorded' in chosen) return chosen.recorded
        const { command, change = null } = chosen
        const recorded = await this.#record(command, askingOf(caller, commandId), at.revision, change)
        if (recorded !== null) return recorded
      }
      throw contention(this.#stream)
    })
  }

  /** Calls `use` with the current document. Do not keep the replica after the call. */
  look<T>(use: (replica: OpenDocument, at: Omit<DocumentAt, 'blocks' | 'documentId'>) => T | Promise<T>): Promise<T> {
    return this.#enqueue(async () => {
      const { replica, state, revision } = mustBeDocument(await this.#current())
      const { title, frontier, root } = state
      return this.#using(() => use(replica, { title, revision, frontier, root }))
    })
  }

  /** Frees the replica after the current work. */
  close(): Promise<void> {
    return this.#enqueue(async () => this.#dropReplica())
  }

  async #judged(
    documentId: string,
    body: unknown,
    caller: DocumentCaller,
    { replica, revision }: Current,
    pause: YieldToEventLoop,
  ): Promise<Verdict> {
    if (body instanceof RawBody)
      return { kind: 'refuse', answer: refused('INVALID_REQUEST', body.fault), request: null }
    const { parse } = this.#ports
    const id = idIn(body)
    const earlier = id === null ? null : await this.#given(documentId, id, caller, revision)
    const context: EnvelopeContext = {
      ...{ parse, document: replica, answered: () => earlier },
      scope: [documentId, caller.name],
    }
    const verdict = await inSteps(judging(body, context), pause)
    // Neither repetitions nor answers with status 400 record any text of the request, so they need no check for
    // secrets.
    if (verdict.kind === 'repeat' || (verdict.kind === 'refuse' && verdict.answer.status === 400)) return verdict
    const words = [JSON.stringify(body), ...(verdict.kind === 'apply' ? wordsOfEdits(verdict.edits) : [])]
    if (!(await holdsSecret(this.#ports, caller, words))) return verdict
    const answer = refused('AI_PAYLOAD_REJECTED_SANITIZE', 'the request holds a secret value; send it without')
    return { kind: 'refuse', answer, request: verdict.request }
  }

  #given(documentId: string, clientRequestId: string, { name: caller }: Pick<DocumentCaller, 'name'>, last: number) {
    return this.#answers.of({ documentId, caller, clientRequestId }, last)
  }

  /** Discards the change if it contains a secret, or if the check fails. */
  async #mustHoldNoSecret({ words, change }: ImportedChange, caller: DocumentCaller): Promise<void> {
    try {
      if (!(await holdsSecret(this.#ports, caller, words))) return
      throw new DocumentError('UPDATE_HOLDS_SECRET', 'the update holds a secret value; take it out and send it without')
    } catch (error) {
      await this.#using(() => change.discard())
      throw error
    }
  }

  /** Records the answer. Null: another writer appended first. */
  async #answer(
    documentId: string,
    body: unknown,
    caller: DocumentCaller,
    { replica, revision }: Current,
    verdict: Exclude<Verdict, { kind: 'repeat' }>,
    pause: YieldToEventLoop,
  ): Promise<EnvelopeAnswer | null> {
    const { request } = verdict
    const isReused = verdict.kind === 'refuse' && codeOf(verdict.answer) === 'AI_IDEMPOTENCY_KEY_REUSED'
    const { logId } = this.#ports.log
    const commandId =
      request === null || isReused
        ? this.#unkeyed()
        : commandOf(logId, { documentId, caller: caller.name, clientRequestId: request.client_request_id })
    const asking = askingOf(caller, commandId)
    if (verdict.kind === 'refuse') {
      const { answer } = verdict
      if (answer.status === 200) throw new Error('an applied request is never refused')
      const received = receivedOf(documentId, body, request, answer.status !== 400)
      const done = await this.#record({ kind: 'refuse', received, answer }, asking, revision, null)
      return done === null ? null : answer
    }
    const { diagnostics, annotations } = verdict
    const change = await this.#using(() => inSteps(replica!.editing(verdict.edits), pause))
    const received = receivedOf(documentId, body, verdict.request, true)
    const command = { kind: 'apply', received, change, diagnostics, annotations } as const
    const done = await this.#record(command, asking, revision, change)
    return done === null ? null : applied(verdict.request.client_request_id, change.frontier, diagnostics)
  }

  /**
   * Appends after `revision` and keeps the change. Null: the stream has a newer revision, and the change is discarded.
   */
  async #record(
    command: DocumentCommand,
    asking: Asking<CausedContext>,
    revision: number,
    change: PendingChange | null,
  ): Promise<number | null> {
    try {
      const done = await this.#mailbox.submit(command, asking, { fact: false, expected: revision })
      if (!done.recorded) {
        await this.#using(() => change?.discard())
        return null
      }
      change?.keep()
      this.#arrivals.take()
      this.#keepReplica(change === null)
      return done.revision
    } catch (error) {
      if (error instanceof DocumentError && error.code === 'REVISION_CHANGED') {
        await this.#using(() => change?.discard())
        return null
      }
      // The append may or may not have succeeded. Drop the replica; reopening reads the result from the log.
      if (change !== null) this.#dropReplica()
      throw error
    }
  }

  async #current(): Promise<Current> {
    const mailbox = this.#mailbox
    await mailbox.refresh()
    const revision = mailbox.head?.revision ?? -1
    if (!this.#ofDocument || mailbox.state === null) return { revision, state: null, replica: null }
    if (this.#replica === null) await this.#open(revision)
    else this.#follow(this.#replica)
    return { revision, state: mailbox.state, replica: this.#replica }
  }

  async #open(revision: number): Promise<void> {
    const opened = await openAt(this.#ports, this.#cache, this.#stream, revision)
    this.#arrivals.take()
    this.#replica = opened?.replica ?? null
    this.#keptAt = opened?.state.updates ?? 0
  }

  #follow(replica: OpenDocument): void {
    try {
      for (const update of this.#arrivals.take()) replica.follow(update)
      const { state } = this.#mailbox
      if (replica.frontier === state?.frontier) return
      throw new DocumentError('DOCUMENT_CORRUPT', `the replica of ${this.#stream} is not what the log says; try again`)
    } catch (error) {
      this.#dropReplica()
      throw error
    }
  }

  #keepReplica(isUnchanged: boolean): void {
    const { state, head } = this.#mailbox
    if (isUnchanged || state === null || head === null || this.#replica === null) return
    if (state.updates - this.#keptAt < REPLICA_EVERY) return
    const before = this.#keptAt
    this.#keptAt = state.updates
    try {
      this.#cache.keep(this.#stream, { revision: head.revision, state, bytes: this.#replica.snapshot() }, before)
    } catch (error) {
      // The event is recorded, so a failed snapshot is no error of the request.
      this.#dropReplica()
      this.#cache.notKept(this.#stream, error)
    }
  }

  /**
   * Performs work on the replica. An error may leave the replica inconsistent, so the replica is dropped and reopened
   * later.
   */
  async #using<T>(work: () => T | Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      this.#dropReplica()
      throw error
    }
  }

  #dropReplica(): void {
    this.#replica?.close()
    this.#replica = null
  }

  #unkeyed(): string {
    return `request:${hex(this.#ports.random.bytes(16))}`
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(work, work)
    this.#queue = done.catch(() => undefined)
    return done
  }
}

function mustBeDocument({ revision, state, replica }: Current): AtDocument {
  if (state === null || replica === null) throw new DocumentError('DOCUMENT_UNKNOWN', 'there is no such document')
  return { revision, state, replica }
}

const codeOf = (answer: EnvelopeAnswer): string | null => ('code' in answer.body ? answer.body.code : null)
