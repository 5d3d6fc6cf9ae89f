import { signal } from '@preact/signals'
import wasm from 'loro-crdt/web/loro_wasm_bg.wasm?url'
import { PersonReplica } from '../../../../adapters/loro/person-replica.ts'
import { startLoro } from '../../../../adapters/loro/web-assembly.ts'
import { SseReader } from '../../../../adapters/web/sse-reader.ts'
import type { ReadBlock, TextAnchor, TextRange } from '../../../../domain/ports/index.ts'
import { Refused, randomId, refusal } from '../../../http/answers.ts'
import { errorText, send } from '../../client/api.ts'
import { HeartbeatWatch } from '../../client/heartbeat-watch.ts'
import { person } from '../../client/session.ts'
import type { Caret, CharacterAtCaret } from './caret.ts'
import type { PersonHere, Place } from './cursors.ts'

/**
 * `saving`: the server does not have all that the person wrote. `away`: it does not answer; the page tries again. `refused`:
 * it refused a change. The later changes build on that change, so the page sends none of them.
 */
export type Saving = 'saved' | 'saving' | 'away' | 'refused'

/** Too many requests, and a session that ended: the person signs in again. */
const PASSING: ReadonlySet<number> = new Set([401, 429])

/** A person types several letters in this time; they are one update of the document. */
const GATHER_MS = 150
const FIRST_WAIT = 500
const LONGEST_WAIT = 8_000
/** People say where they are at least so often, and are forgotten after three times as long. */
const SAY_MS = 10_000
const GONE_MS = 30_000

/**
 * A document that several people edit. Sends the changes of this person and follows those of others. Sends a change again
 * until the server has it.
 */
export class SharedDocument {
  readonly saving = signal<Saving>('saved')
  /** Why the server refused a change, or does not answer. Empty: neither. */
  readonly fault = signal('')
  /** The other windows at this document. */
  readonly people = signal<readonly PersonHere[]>([])
  readonly #id: string
  readonly #path: string
  readonly #client = randomId()
  readonly #over = new AbortController()
  readonly #replica: PersonReplica
  readonly #seen = new Map<string, { readonly person: PersonHere; readonly at: number }>()
  readonly #timer = setInterval(() => this.#beat(), SAY_MS)
  #revision: number
  #place: Place | null = null
  #sending = false
  /** The screens that show this document. */
  #users = 1
  #placeTimer: ReturnType<typeof setTimeout> | undefined
  /** Returns the character at the person's caret. Null: there is none. */
  characterAtCaret: () => CharacterAtCaret | null = () => null
  /** Called after changes by others, with the blocks and the new place of the caret. Null: its character was deleted. */
  onChange: (blocks: readonly ReadBlock[], caret: Caret | null) => void = () => undefined

  private constructor(id: string, path: string, replica: PersonReplica, revision: number) {
    this.#id = id
    this.#path = path
    this.#replica = replica
    this.#revision = revision
    void this.#follow()
  }

  /** Rejects if the document cannot be read. */
  static async open(documentId: string): Promise<SharedDocument> {
    const kept = unsaved.get(documentId)
    if (kept !== undefined) {
      kept.#users += 1
      return kept
    }
    const path = `/v1/documents/${encodeURIComponent(documentId)}`
    const [answer] = await Promise.all([send(`${path}?format=loro`), started()])
    if (!answer.ok) throw await refusal(answer)
    const revision = Number(/\d+/.exec(answer.headers.get('etag') ?? '')?.[0])
    const replica = new PersonReplica(new Uint8Array(await answer.arrayBuffer()))
    return new SharedDocument(documentId, path, replica, revision)
  }

  get blocks(): readonly ReadBlock[] {
    return this.#replica.blocks
  }

  /** The anchor of a range of a span's text in this window. Null: the span has another text. */
  anchor(spanId: string, range: TextRange): TextAnchor | null {
    return this.#replica.anchor(spanId, range)
  }

  /** The range of an anchor in this window. Null: the span has another text. */
  range(spanId: string, anchor: TextAnchor): TextRange | null {
    return this.#replica.range(spanId, anchor)
  }

  write(blocks: readonly ReadBlock[]): void {
    try {
      this.#replica.write(blocks)
      void this.#send()
    } catch (error) {
      this.#is('refused', errorText(error))
    }
  }

  /** Gives the document the content of an earlier version by new changes. */
  restore(frontier: string): void {
    this.#replica.restore(frontier)
    this.onChange(this.blocks, null)
    void this.#send()
  }

  /** Resolves when the server has all changes; rejects if it refuses one. */
  async settled(): Promise<void> {
    while (this.saving.value === 'saving' || this.saving.value === 'away') await pause(GATHER_MS)
    if (this.saving.value === 'refused') throw new Error(this.fault.value)
  }

  /** Tells others where this person writes. */
  at(place: Place | null): void {
    this.#place = place
    this.#placeTimer ??= setTimeout(() => this.#say(false), GATHER_MS)
  }

  /** Call when a screen no longer shows the document. What the server does not have is kept for the next screen. */
  end(): void {
    this.#users -= 1
    this.#place = null
    if (this.#users === 0 && this.saving.value === 'saved') this.#close()
  }

  /** Drops the changes that the server refused. The next screen reads the document again. */
  discard(): void {
    this.#close()
    this.#is('saved')
  }

  #close(): void {
    if (this.#over.signal.aborted) return
    this.#over.abort()
    clearInterval(this.#timer)
    this.#say(true)
  }

  #beat(): void {
    this.#say(false)
    for (const [client, { at }] of this.#seen) if (Date.now() - at > GONE_MS) this.#seen.delete(client)
    this.#show()
  }

  #say(left: boolean): void {
    clearTimeout(this.#placeTimer)
    this.#placeTimer = undefined
    const body = JSON.stringify({ client: this.#client, place: this.#place, left })
    const headers = { 'content-type': 'application/json' }
    // Who does not see this person for a while misses nothing.
    send(`${this.#path}/presence?by=${encodeURIComponent(person())}`, {
      method: 'POST',
      headers,
      body,
      keepalive: left,
    }).catch(() => undefined)
  }

  async #send(): Promise<void> {
    if (this.#sending || this.saving.value === 'refused') return
    this.#sending = true
    try {
      for (let wait = FIRST_WAIT; ; ) {
        if (this.saving.value === 'saved') this.#is('saving')
        await pause(this.saving.value === 'away' ? wait : GATHER_MS)
        const unsent = this.#replica.unsent()
        if (unsent === null) {
          this.#is('saved')
          return
        }
        try {
          const answer = await send(`${this.#path}/updates?by=${encodeURIComponent(person())}`, {
            method: 'POST',
            body: unsent.update as Uint8Array<ArrayBuffer>,
          })
          if (!answer.ok) throw await refusal(answer)
          unsent.sent()
          wait = FIRST_WAIT
          this.#is('saving')
        } catch (error) {
          // What others wrote comes over the stream, and the replica mends what does not fit it.
          const isEarly = error instanceof Refused && error.code === 'UPDATE_OUTSIDE_MODEL' && wait < LONGEST_WAIT
          if (error instanceof Refused && error.status < 500 && !PASSING.has(error.status) && !isEarly)
            return this.#is('refused', errorText(error))
          this.#is('away', errorText(error))
          wait = Math.min(wait * 2, LONGEST_WAIT)
        }
      }
    } finally {
      this.#sending = false
    }
  }

  #is(saving: Saving, fault = ''): void {
    this.saving.value = saving
    this.fault.value = fault
    if (saving === 'saved') unsaved.delete(this.#id)
    else unsaved.set(this.#id, this)
    if (saving === 'saved' && this.#users === 0) this.#close()
  }

  async #follow(): Promise<void> {
    for (let wait = FIRST_WAIT; !this.#over.signal.aborted; wait = Math.min(wait * 2, LONGEST_WAIT)) {
      const watch = new HeartbeatWatch(this.#over.signal)
      try {
        const headers = { 'last-event-id': String(this.#revision) }
        const answer = await send(`${this.#path}/updates?presence=${this.#client}`, { headers, signal: watch.signal })
        if (!answer.ok || answer.body === null) throw await refusal(answer)
        watch.expect(answer)
        this.#say(false)
        const reader = new SseReader()
        for await (const piece of answer.body) {
          watch.beat()
          wait = FIRST_WAIT
          this.#take(reader.push(piece))
        }
      } catch (error) {
        // The document was restored from a backup, or is gone: nothing can be merged with it.
        if (error instanceof Refused && error.status < 500 && !PASSING.has(error.status))
          return this.#is('refused', errorText(error))
      } finally {
        watch.end()
      }
      await pause(wait)
    }
  }

  #take(events: ReturnType<SseReader['push']>): void {
    const updates: Uint8Array[] = []
    for (const { id, name, data } of events) {
      if (data === null) continue
      if (name === 'update') updates.push(bytesOf((JSON.parse(data) as { update: string }).update))
      if (name === 'presence') this.#hear(JSON.parse(data))
      if (id !== null) this.#revision = Number(id)
    }
    if (updates.length === 0) return
    const beside = this.characterAtCaret()
    const anchor = beside === null ? null : this.anchor(beside.spanId, beside)
    if (!this.#replica.import(updates)) return
    const now = beside === null || anchor === null ? null : this.range(beside.spanId, anchor)
    const isThere = beside !== null && now !== null && now.text !== ''
    this.onChange(this.blocks, isThere ? { spanId: beside.spanId, offset: beside.isAfter ? now.end : now.start } : null)
    // The replica mended a block that fitted no longer.
    if (this.#replica.unsent() !== null) void this.#send()
  }

  #hear({ client, by, place, left }: { client: string; by: { id: string }; place: Place | null; left: boolean }): void {
    if (client === this.#client) return
    const window = `${by.id} ${client}`
    if (left) this.#seen.delete(window)
    else this.#seen.set(window, { person: { client: window, name: by.id, place }, at: Date.now() })
    this.#show()
  }

  #show(): void {
    this.people.value = [...this.#seen.values()].map((seen) => seen.person)
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
/** Documents with changes that the server does not have, by id. They outlive their screen. */
const unsaved = new Map<string, SharedDocument>()
addEventListener('beforeunload', (event) => unsaved.size > 0 && event.preventDefault())

let loro: Promise<void> | null = null

/** Starts Loro once in a page. After a failure the next call tries again. */
function started(): Promise<void> {
  loro ??= WebAssembly.compileStreaming(fetch(wasm)).then(startLoro)
  loro.catch(() => {
    loro = null
  })
  return loro
}

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
