import type { Cursor } from '../../log/cursor.ts'
import type { Actor, RecordedEvent } from '../../log/envelope.ts'
import { LogError } from '../../log/errors.ts'
import { type LogCheckpoint, parseCheckpoint, signCheckpoint } from '../../log/proof/checkpoint.ts'
import { base64, equalBytes } from '../../log/proof/encoding.ts'
import {
  ED25519,
  formatNote,
  formatVkey,
  type NoteSigner,
  noteSigner,
  openNote,
  signatureLine,
  splitNote,
} from '../../log/proof/note.ts'
import { appendLeaves, type Edge, EMPTY_EDGE, edgeRoot, eventLeaf, type StoredHash } from '../../log/proof/tree.ts'
import { type ProofPlan, planConsistency, planInclusion } from '../../log/proof/tree-proof.ts'
import type { Clock, EventLog, Random } from '../../ports/index.ts'
import type { SignedHead, SigningKeys, TreeStore } from '../../ports/proof.ts'
import { StreamError } from '../../stream/errors.ts'
import { Mutex } from '../../stream/runtime/concurrency.ts'
import type { Streams } from '../../stream/runtime/streams.ts'
import { alarm } from '../../stream/runtime/time-limit.ts'
import type { ORIGIN_REASONS, TreeHead } from '../events.ts'
import { currentOrigin, PROOF_ID, type ProofState, proof } from '../kind.ts'

export interface SignerPorts {
  readonly log: EventLog
  readonly store: TreeStore
  readonly keys: SigningKeys
  readonly streams: Streams
  readonly clock: Clock
  readonly random: Random
  /** The name of the log's first origin. Later origins add a number. */
  readonly origin: string
  /** The number of losses of the log that people have accepted. */
  readonly acceptedLosses: () => Promise<number>
  readonly warn: (text: string) => void
}

/** The longest time from an event to a signature over it, in ms, and the number of events that are signed at once. */
const SIGN_MS = 1_000
const SIGN_EVENTS = 1_000

/** The number of heads that are read at once. */
const HEADS = 500

const SYSTEM = { kind: 'system', id: 'signer' } as const

/**
 * Keeps the tree of the log's events and signs its heads: one second after an event, after 1,000 events, at the end and
 * on demand. At most one per log. Two signed heads of one origin are always consistent: when the log does not continue
 * the last signed head, or the key of the origin is lost, a new origin begins.
 */
export class LogSigner {
  readonly #ports: SignerPorts
  readonly #mutex = new Mutex()
  readonly #end = new AbortController()
  #edge: Edge = EMPTY_EDGE
  #cursor: Cursor | null = null
  #hashes: StoredHash[] = []
  #positions: number[] = []
  /** The last signed head of the current key; null: none yet. */
  #head: SignedHead | null = null
  #key: NoteSigner | null = null
  /** The last signed checkpoint, while the log is not known to continue it; null: it does. */
  #broken: LogCheckpoint | null = null
  #following: Promise<void> = Promise.resolve()
  /** The last reported failure. */
  #failure: string | null = null
  #cancelAlarm: (() => void) | null = null

  private constructor(ports: SignerPorts) {
    this.#ports = ports
  }

  /** Starts to follow the log. Failures of the store or the key are reported and stop the signatures, not the log. */
  static start(ports: SignerPorts): LogSigner {
    const signer = new LogSigner(ports)
    signer.#following = signer.#follow().catch((error: Error) => signer.#fail(error))
    return signer
  }

  /** Signs everything that the log holds now, unless a signed head covers it. */
  sign(): Promise<SignedHead> {
    return this.#mutex.run(async () => {
      await this.#catchUp()
      return this.#signed()
    })
  }

  /** The proof that the leaf `index` is in the tree of `size` leaves. */
  inclusion(index: number, size: number): Promise<Uint8Array[]> {
    return this.#built(planInclusion(index, size))
  }

  /** The proof that the tree of `size` leaves begins with the tree of `old` leaves. */
  consistency(old: number, size: number): Promise<Uint8Array[]> {
    return this.#built(planConsistency(old, size))
  }

  /** Replaces the origin's key. The old key signs the new one. Returns the new verifier key. */
  rotate(by: Actor): Promise<string> {
    return this.#mutex.run(async () => {
      const old = await this.#ready()
      const { random, keys, streams } = this.#ports
      const made = noteSigner(old.key.name, random.bytes(32), ED25519)
      await keys.add(made)
      const vkey = formatVkey(made.key)
      const text = `${old.key.name}\n${vkey}\n`
      const note = formatNote(text, [signatureLine(old, text)])
      await streams.submit(
        proof,
        PROOF_ID,
        { kind: 'rotate', vkey, note },
        {
          by,
          commandId: `rotate:${made.key.id}`,
        },
      )
      this.#key = made
      this.#head = null
      await this.#catchUp()
      await this.#signed()
      return vkey
    })
  }

  /** Signs the rest and ends. */
  async close(): Promise<void> {
    this.#end.abort()
    this.#cancelAlarm?.()
    await this.#following
    await this.#mutex
      .run(async () => {
        await this.#catchUp()
        if (!this.#isNew) await this.#signed()
      })
      .catch((error: Error) => this.#fail(error))
  }

  async #built(plan: ProofPlan): Promise<Uint8Array[]> {
    return plan.build(await Promise.all(plan.tiles.map((tile) => this.#ports.store.tile(tile))))
  }

  async #follow(): Promise<void> {
    const { signal } = this.#end
    await this.#mutex.run(() => this.#catchUp())
    for await (const page of this.#ports.log.subscribe(this.#cursor, signal)) {
      await this.#mutex.run(async () => {
        this.#add(page)
        if (this.#positions.length >= SIGN_EVENTS) await this.#signed()
        else if (this.#positions.length > 0) this.#signSoon()
      })
    }
  }

  /** The log holds only its identity. A program that was refused must leave such a log as it found it. */
  get #isNew(): boolean {
    return this.#edge.size <= 1
  }

  #signSoon(): void {
    if (this.#cancelAlarm !== null || this.#isNew) return
    this.#cancelAlarm = alarm(this.#ports.clock, SIGN_MS, () => {
      this.#cancelAlarm = null
      if (!this.#end.signal.aborted) this.#mutex.run(() => this.#signed()).catch((error: Error) => this.#fail(error))
    })
  }

  /** Loads the stored tree and adds the events that the log has beyond it. */
  async #catchUp(): Promise<void> {
    const { log, store } = this.#ports
    if (this.#cursor === null) {
      const stored = await store.load()
      const last = await this.#lastCheckpoint()
      // Every growth stores a head, so another edge was changed by another program. It would sign a wrong root.
      if (stored !== null && last?.size === stored.edge.size && equalBytes(last.root, edgeRoot(stored.edge))) {
        this.#edge = stored.edge
        this.#cursor = stored.cursor
      } else if (stored !== null) return this.#rebuild()
      else if (this.#edge.size === 0) this.#broken = last
    }
    try {
      for await (const page of log.readAll(this.#cursor, { bodies: false })) this.#add(page)
    } catch (error) {
      if (!(error instanceof LogError) || error.code !== 'CURSOR_MISMATCH') throw error
      await this.#rebuild()
    }
  }

  /** Makes the tree again from the log, which does not continue the stored tree. */
  async #rebuild(): Promise<void> {
    const { log, store } = this.#ports
    await store.clear()
    this.#edge = EMPTY_EDGE
    this.#cursor = null
    this.#hashes = []
    this.#positions = []
    this.#broken = await this.#lastCheckpoint()
    for await (const page of log.readAll(null, { bodies: false })) this.#add(page)
  }

  #add(page: readonly RecordedEvent[]): void {
    for (const event of page) {
      // A page of the subscription can repeat events of a catch-up.
      if (this.#cursor !== null && event.position <= this.#cursor.position) continue
      const { edge, completed } = appendLeaves(this.#edge, [eventLeaf(event.hash)])
      this.#edge = edge
      this.#hashes.push(...completed)
      this.#positions.push(event.position)
      this.#cursor = this.#ports.log.cursor(event)
      if (this.#broken?.size === edge.size && equalBytes(this.#broken.root, edgeRoot(edge))) this.#broken = null
    }
  }

  async #lastCheckpoint(): Promise<LogCheckpoint | null> {
    const head = await this.#ports.store.lastHead()
    return head === null ? null : parseCheckpoint(splitNote(head.note).text)
  }

  /** Signs the tree as it is, and stores it. */
  async #signed(): Promise<SignedHead> {
    const key = await this.#ready()
    const { store, clock } = this.#ports
    this.#cancelAlarm?.()
    this.#cancelAlarm = null
    const { size } = this.#edge
    if (this.#head?.size === size) return this.#head
    const origin = key.key.name
    const note = signCheckpoint({ origin, size, root: edgeRoot(this.#edge) }, key)
    const head = { origin, size, note, at: clock.now() }
    await store.grow({
      edge: this.#edge,
      cursor: this.#cursor!,
      hashes: this.#hashes,
      positions: this.#positions,
      head,
    })
    this.#hashes = []
    this.#positions = []
    this.#head = head
    this.#failure = null
    return head
  }

  /**
   * The key of the current origin. Begins an origin when there is none, when this machine does not have its key, and
   * after an accepted loss. Throws when the log does not continue its last signed head and nobody has accepted that.
   */
  async #ready(): Promise<NoteSigner> {
    if (this.#key !== null && this.#broken === null) return this.#key
    const { streams, keys, store, acceptedLosses } = this.#ports
    const state = await streams.state(proof, PROOF_ID)
    const owned = await keys.read()
    // The heads of the lost part may be known elsewhere, even if the log continues every head that is stored here.
    const isLost = (await acceptedLosses()) > (state?.losses ?? 0)
    const current = state === null ? null : currentOrigin(state)
    const vkey = current?.vkeys.at(-1)
    const known = owned.find(({ key }) => formatVkey(key) === vkey)
    const head = known === undefined ? null : await store.lastHead(known.key.name)
    // The origin began after the broken head, and the process ended before the first head of the origin.
    if (this.#broken !== null && known !== undefined && head === null) this.#broken = null
    if (known !== undefined && this.#broken === null && !isLost) {
      this.#head = head !== null && isSignedBy(known, head) ? head : null
      this.#key = known
      return known
    }
    const reason = isLost ? 'loss' : this.#reason(state, owned)
    const key = await this.#made(state, owned)
    await this.#begin(key, reason)
    this.#key = key
    this.#head = null
    this.#broken = null
    await this.#catchUp()
    return key
  }

  /** Why an origin begins without an accepted loss. Throws if the log was cut and the key of the cut head is here. */
  #reason(state: ProofState | null, owned: readonly NoteSigner[]): 'first' | 'key_lost' {
    const { origin, size } = this.#broken ?? {}
    if (origin === undefined || !owned.some(({ key }) => key.name === origin))
      return state === null ? 'first' : 'key_lost'
    throw new StreamError(
      'LOG_CUT',
      `the log does not continue the head of ${size} events that was signed for ${origin}; restore the newest log, or ` +
        'move the file "log.key" away: a new origin then begins, and "verify" tells of the cut',
    )
  }

  /**
   * Makes the key of the next origin, whose name no fact, head or key here has. Keys that no fact names are never used:
   * they may have signed other heads.
   */
  async #made(state: ProofState | null, owned: readonly NoteSigner[]): Promise<NoteSigner> {
    const { keys, random, origin, store } = this.#ports
    const used = new Set([...(state?.origins ?? []).map((one) => one.origin), ...owned.map(({ key }) => key.name)])
    for (let after: number | undefined = 0; after !== undefined; ) {
      const heads = await store.heads(after, HEADS)
      for (const head of heads) used.add(head.origin)
      after = heads.at(-1)?.number
    }
    let name = origin
    for (let number = 2; used.has(name); number += 1) name = `${origin}/${number}`
    const key = noteSigner(name, random.bytes(32), ED25519)
    await keys.add(key)
    return key
  }

  async #begin({ key }: NoteSigner, reason: (typeof ORIGIN_REASONS)[number]): Promise<void> {
    const last = await this.#lastCheckpoint()
    const after: TreeHead | null = last && { origin: last.origin, size: last.size, root: base64(last.root) }
    const command = { kind: 'begin', origin: key.name, vkey: formatVkey(key), reason, after } as const
    await this.#ports.streams.submit(proof, PROOF_ID, command, { by: SYSTEM, commandId: `begin:${key.id}` })
  }

  #fail(error: Error): void {
    if (error.message === this.#failure) return
    this.#failure = error.message
    this.#ports.warn(`the log's heads are not signed: ${error.message}`)
  }
}

function isSignedBy({ key }: NoteSigner, { note }: SignedHead): boolean {
  try {
    return openNote(note, [key]).signatures.length > 0
  } catch {
    return false
  }
}
