import type { Cursor } from '../../log/cursor.ts'
import type { DamagedEvent } from '../../log/damage.ts'
import type { Actor, RecordedEvent } from '../../log/envelope.ts'
import { LogError } from '../../log/errors.ts'
import { type LogCheckpoint, openCheckpoint, parseCheckpoint, signCheckpoint } from '../../log/proof/checkpoint.ts'
import { base64, equalBytes } from '../../log/proof/encoding.ts'
import {
  ED25519,
  formatNote,
  formatVkey,
  type NoteKey,
  type NoteSigner,
  noteSigner,
  parseVkey,
  signatureLine,
  splitNote,
} from '../../log/proof/note.ts'
import { ifProofError } from '../../log/proof/proof-error.ts'
import { appendLeaves, type Edge, EMPTY_EDGE, edgeRoot, eventLeaf, type StoredHash } from '../../log/proof/tree.ts'
import {
  type ProofPlan,
  planConsistency,
  planEdge,
  planInclusion,
  verifyConsistency,
  verifyInclusion,
} from '../../log/proof/tree-proof.ts'
import type { Clock, EventLog, Random } from '../../ports/index.ts'
import type { SignedHead, SigningKeys, StoredTree, TreeLeaf, TreeStore } from '../../ports/proof.ts'
import { StreamError } from '../../stream/errors.ts'
import { isUnavailable } from '../../stream/runtime/append-retry.ts'
import { Mutex } from '../../stream/runtime/concurrency.ts'
import type { Streams } from '../../stream/runtime/streams.ts'
import { alarm } from '../../stream/runtime/time-limit.ts'
import { isKeyElsewhere, isOvertaken, keyElsewhere } from '../errors.ts'
import type { ORIGIN_REASONS, TreeHead } from '../events.ts'
import { currentOrigin, PROOF_ID, PROOF_STREAM, type ProofState, proof } from '../kind.ts'

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
  /** Other machines sign this log too, so a key that is missing here does not begin a new origin. Default false. */
  readonly shared?: boolean
  readonly warn: (text: string) => void
}

/** The longest time from an event to a signature over it, in ms, and the number of events that are signed at once. */
const SIGN_MS = 1_000
const SIGN_EVENTS = 1_000
/** The pause before another attempt after a failed signature, in ms. */
const AGAIN_MS = 5_000
/** The number of leaves in memory at which the tree is stored without a head. */
const STORED_LEAVES = 10_000
/** How often a signature begins again because another process was faster. */
const MAX_OVERTAKEN = 5
/** The longest wait for a head that another machine signs, and the pause between two looks, in ms. */
const ELSEWHERE_MS = 3_000
const LOOK_MS = 100

/** The number of heads that are read at once. */
const HEADS = 500

const SYSTEM = { kind: 'system', id: 'signer' } as const

/**
 * Keeps the tree of the log's events and signs its heads: while it follows the log, one second after an event and after
 * 1,000 events; at the end and on demand. Several processes may sign one log on demand: the store takes only a tree that
 * continues the stored one, and the loser loads it again. Two signed heads of one origin are always consistent: when the
 * log does not continue the last signed head, or the key of the origin is lost, a new origin begins.
 */
export class LogSigner {
  readonly #ports: SignerPorts
  readonly #mutex = new Mutex()
  readonly #end = new AbortController()
  #edge: Edge = EMPTY_EDGE
  #cursor: Cursor | null = null
  #hashes: StoredHash[] = []
  #leaves: TreeLeaf[] = []
  /** The last signed head of the current key; null: none yet. */
  #head: SignedHead | null = null
  #key: NoteSigner | null = null
  /** The origin that this process began. It may have no head yet. */
  #begun: string | null = null
  /** The last signed checkpoint, until the log is shown to contain it; null: it contains it. */
  #broken: LogCheckpoint | null = null
  /** The tree in memory replaces the stored one, and does not continue it. */
  #replaces = false
  /** The root of the last stored tree whose end was compared with the log. */
  #compared: Uint8Array | null = null
  /** An event of a newer version that was read; null: none. */
  #newer: LogError | null = null
  #following: Promise<void> = Promise.resolve()
  /** The last reported failure; null: none since the last signature. */
  #failure: string | null = null
  #cancelAlarm: (() => void) | null = null
  /** Ends {@link follow}. Null: this process does not follow the log. */
  #over: AbortController | null = null

  /** Signs only on demand. */
  constructor(ports: SignerPorts) {
    this.#ports = ports
  }

  /** Starts to follow the log. Failures of the store or the key are reported and stop the signatures, not the log. */
  static start(ports: SignerPorts): LogSigner {
    const signer = new LogSigner(ports)
    signer.#following = signer.follow(signer.#end.signal).catch((error: Error) => signer.#fail(error))
    return signer
  }

  /**
   * Follows the log and signs it until the signal aborts. Rejects if the log cannot be followed, with `KEY_ELSEWHERE` if
   * this machine does not have the key, and with `LOG_NEWER` at an event of a newer version.
   */
  async follow(signal: AbortSignal): Promise<void> {
    const over = new AbortController()
    this.#over = over
    try {
      await this.#mutex.run(() => this.#catchUp())
      if (this.#leaves.length > 0) this.#signSoon()
      const end = AbortSignal.any([signal, over.signal])
      for await (const page of this.#ports.log.subscribe(this.#cursor, end, this.#reading))
        await this.#mutex.run(() => this.#heard(page))
    } finally {
      this.#over = null
      this.#cancelAlarm?.()
      this.#cancelAlarm = null
    }
    if (!signal.aborted) over.signal.throwIfAborted()
  }

  async #heard(page: readonly RecordedEvent[]): Promise<void> {
    try {
      if (this.#cursor === null) await this.#catchUp()
      await this.#add(page)
      if (this.#leaves.length >= SIGN_EVENTS && this.#failure === null) await this.#signed()
      else if (this.#leaves.length > 0) this.#signSoon()
    } catch (error) {
      this.#fail(error as Error)
      this.#signSoon()
    }
  }

  /** Signs all current events of the log, unless a signed head covers them. */
  sign(): Promise<SignedHead> {
    return this.#mutex.run(() => this.#signAll())
  }

  /**
   * The head of all current events. Without the key: the last head, after a short wait for the signing machine; null:
   * no head was signed yet.
   */
  async latest(): Promise<SignedHead | null> {
    const signed = await this.#mutex.run(() =>
      this.#signAll().catch((error: unknown) => {
        if (!isKeyElsewhere(error)) throw error
        const { size } = this.#edge
        // Leaves in memory would grow with the log.
        this.#forget()
        return size
      }),
    )
    if (typeof signed !== 'number') return signed
    const { store, clock } = this.#ports
    for (let waited = 0; ; waited += LOOK_MS) {
      const head = await store.lastHead()
      if (waited >= ELSEWHERE_MS || (head !== null && head.size >= signed)) return head
      await clock.sleep(LOOK_MS)
    }
  }

  /** Whether this machine has the key with this verifier key. */
  async hasKey(vkey: string): Promise<boolean> {
    return (await this.#ports.keys.read()).some(({ key }) => formatVkey(key) === vkey)
  }

  /** Why this machine cannot sign the log. Null: it has the key, or the log was never signed. */
  async missingKey(): Promise<string | null> {
    const state = await this.#ports.streams.state(proof, PROOF_ID)
    const { known, vkey } = await this.#owned(state)
    return state === null || known !== undefined ? null : lacks(currentOrigin(state).origin, vkey)
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
      // The origin exists then, also if another process began it at the same moment.
      await this.#signAll()
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
        { kind: 'rotate', old: formatVkey(old.key), vkey, note },
        { by, commandId: `rotate:${made.key.id}` },
      )
      await this.#signAll()
      return vkey
    })
  }

  /** Makes the stored tree again from the log and signs it. Returns the number of its events. */
  rebuild(): Promise<number> {
    return this.#mutex.run(async () => {
      await this.#rebuild()
      return (await this.#signed()).size
    })
  }

  /** Begins a new origin because no machine has the key of the current one. Returns the new verifier key. */
  beginAnew(by: Actor): Promise<string> {
    return this.#mutex.run(async () => {
      const state = await this.#ports.streams.state(proof, PROOF_ID)
      if (state !== null && (await this.#owned(state)).known !== undefined)
        throw new StreamError('KEY_HERE', 'this machine has the key of the log; replace it without "lost"')
      const key = await this.#made(state, await this.#ports.keys.read())
      await this.#begin(key, state === null ? 'first' : 'key_lost', state, by)
      await this.#signAll()
      return formatVkey(key.key)
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
        if (!this.#isNew) await this.#signAll()
      })
      .catch((error: Error) => this.#fail(error))
  }

  async #built(plan: ProofPlan): Promise<Uint8Array[]> {
    return plan.build(await Promise.all(plan.tiles.map((tile) => this.#ports.store.tile(tile))))
  }

  /** Only the identity event exists. A program that refuses to start must not change the log. */
  get #isNew(): boolean {
    return this.#edge.size <= 1
  }

  /** Signs after a while, unless that is planned already, and later after a failure. */
  #signSoon(): void {
    if (this.#cancelAlarm !== null || this.#over === null || this.#isNew) return
    this.#cancelAlarm = alarm(this.#ports.clock, this.#failure === null ? SIGN_MS : AGAIN_MS, () => {
      this.#cancelAlarm = null
      this.sign().catch((error: Error) => {
        this.#fail(error)
        this.#signSoon()
      })
    })
  }

  /** Signs all current events. Begins again when another process was faster. */
  async #signAll(): Promise<SignedHead> {
    for (let overtaken = 0; ; overtaken += 1) {
      try {
        await this.#catchUp()
        return await this.#signed()
      } catch (error) {
        if (!isOvertaken(error) || overtaken === MAX_OVERTAKEN) throw error
        this.#forget()
      }
    }
  }

  /** Loads the stored tree and adds the events that the log has beyond it. */
  async #catchUp(): Promise<void> {
    const { log, store } = this.#ports
    if (this.#cursor === null) {
      // Another process can sign between the two reads. The stored tree then continues the head also if it is read later.
      const last = await this.#lastCheckpoint()
      const stored = await store.load().catch(ifProofError)
      if (stored === null) this.#broken = last
      else if (stored !== undefined && (await this.#isSound(stored, last))) {
        this.#edge = stored.edge
        this.#cursor = stored.cursor
      } else return this.#rebuild()
    }
    try {
      for await (const page of log.readAll(this.#cursor, this.#reading)) await this.#add(page)
    } catch (error) {
      if (!(error instanceof LogError) || error.code !== 'CURSOR_MISMATCH') throw error
      await this.#rebuild()
    }
  }

  /**
   * Whether a stored tree continues the last signed head and ends with the event of its cursor. A head over a tree that
   * another program changed would contradict the log for ever.
   */
  async #isSound({ edge, cursor }: StoredTree, last: LogCheckpoint | null): Promise<boolean> {
    const { size } = edge
    const root = edgeRoot(edge)
    try {
      const end = eventLeaf(cursor.hash)
      if (!verifyInclusion(size - 1, size, end, await this.inclusion(size - 1, size), root)) return false
      if (last?.size === size) return equalBytes(last.root, root)
      if (last !== null && last.size > size) return false
      if (
        last !== null &&
        !verifyConsistency(last.size, size, last.root, root, await this.consistency(last.size, size))
      )
        return false
      // No head proves the end of the tree.
      return await this.#logHasLeaves(last?.size ?? 0, { size, root })
    } catch (error) {
      return ifProofError(error) ?? false
    }
  }

  /** Whether the log has the leaves of a stored tree from the number `first` on. Compares each root once. */
  async #logHasLeaves(first: number, { size, root }: Omit<LogCheckpoint, 'origin'>): Promise<boolean> {
    if (this.#compared !== null && equalBytes(this.#compared, root)) return true
    const { log, store } = this.#ports
    let edge: Edge = { size: first, hashes: await this.#built(planEdge(first, size)) }
    const [signed = -1] = first === 0 ? [] : await store.positions(first - 1, 1)
    for await (const page of log.readAll(null, { bodies: false, everyKind: true })) {
      const later = page.filter(({ position }) => position > signed).slice(0, size - edge.size)
      edge = appendLeaves(
        edge,
        later.map(({ hash }) => eventLeaf(hash)),
      ).edge
      if (edge.size === size) break
    }
    if (edge.size < size || !equalBytes(edgeRoot(edge), root)) return false
    this.#compared = root
    return true
  }

  /**
   * Makes the tree again from the log, which does not continue the stored tree. The stored one stays until then: the
   * acceptance of a loss compares it with the log.
   */
  async #rebuild(): Promise<void> {
    const { log } = this.#ports
    this.#forget()
    this.#broken = await this.#lastCheckpoint()
    this.#replaces = true
    for await (const page of log.readAll(null, this.#reading)) await this.#add(page)
  }

  /** Forgets everything that was loaded or not stored yet. */
  #forget(): void {
    this.#edge = EMPTY_EDGE
    this.#cursor = null
    this.#hashes = []
    this.#leaves = []
    this.#head = null
    this.#key = null
    this.#broken = null
    this.#replaces = false
  }

  /** Every program must read the same leaves, so an event of a newer version ends the signatures of this one. */
  readonly #reading = {
    bodies: false,
    everyKind: true,
    onDamage: ({ code, message }: DamagedEvent) => {
      if (code === 'FORMAT_NEWER') this.#newer = new LogError('LOG_NEWER', message)
    },
  } as const

  async #add(page: readonly RecordedEvent[]): Promise<void> {
    const newer = this.#newer
    this.#newer = null
    if (newer !== null) throw newer
    for (const event of page) {
      // A page of the subscription can repeat events of a catch-up.
      if (this.#cursor !== null && event.position <= this.#cursor.position) continue
      const { position, hash, header } = event
      const { edge, completed } = appendLeaves(this.#edge, [eventLeaf(hash)])
      this.#edge = edge
      this.#hashes.push(...completed.filter(({ level }) => level > 0))
      this.#leaves.push({ position, stream: header.stream, revision: header.revision, hash })
      this.#cursor = this.#ports.log.cursor(event)
      // A head that covers the change of a key is signed with the new key.
      if (header.stream === PROOF_STREAM && header.type.startsWith('log_key_')) this.#key = null
      if (this.#broken?.size === edge.size && equalBytes(this.#broken.root, edgeRoot(edge))) this.#broken = null
    }
    if (this.#leaves.length >= STORED_LEAVES && this.#broken === null) await this.#store(null)
  }

  /** Stores the new leaves and hashes. Forgets the tree when another process has moved the stored one. */
  async #store(head: SignedHead | null): Promise<void> {
    const [edge, cursor, hashes, leaves] = [this.#edge, this.#cursor!, this.#hashes, this.#leaves]
    try {
      if (this.#replaces) await this.#ports.store.clear()
      this.#replaces = false
      await this.#ports.store.grow({ edge, cursor, hashes, leaves, head })
    } catch (error) {
      if (isOvertaken(error)) this.#forget()
      throw error
    }
    this.#hashes = []
    this.#leaves = []
  }

  /**
   * The checkpoint of the last stored head. Throws `HEAD_DAMAGED` if its signature is wrong and this machine has a key of
   * its origin. Null for a wrong signature if another machine has the key, after an accepted loss, which begins a new
   * origin, and if a later origin has begun without a head yet.
   */
  async #lastCheckpoint(): Promise<LogCheckpoint | null> {
    const { store, streams, acceptedLosses } = this.#ports
    const head = await store.lastHead()
    if (head === null) return null
    const state = await streams.state(proof, PROOF_ID)
    const owned = (await this.#owned(state)).owned.map(({ key }) => key)
    const facts = (state?.origins ?? []).flatMap(({ vkeys }) => vkeys.map(parseVkey))
    const known = [...owned, ...facts].filter(({ name }) => name === head.origin)
    // Without a key of the origin the signature cannot be checked.
    if (known.length === 0 || isSignedBy(known, head)) return parseCheckpoint(splitNote(head.note).text)
    const isHere = owned.some(({ name }) => name === head.origin)
    const isSuperseded = state !== null && head.origin !== currentOrigin(state).origin
    if (!isHere || isSuperseded || (await acceptedLosses()) > (state?.losses ?? 0)) return null
    throw new StreamError(
      'HEAD_DAMAGED',
      `the last signed head, of ${head.size} events of ${head.origin}, was altered: its signature is wrong; restore the ` +
        'heads from a backup, or move the file "log.key" away: a new origin then begins, and "verify" tells of the head',
    )
  }

  /** Signs and stores the current tree. */
  async #signed(): Promise<SignedHead> {
    const key = await this.#ready()
    const { clock } = this.#ports
    this.#cancelAlarm?.()
    this.#cancelAlarm = null
    const { size } = this.#edge
    if (this.#head?.size === size) {
      // A rebuilt tree is stored also where no event follows the head.
      if (this.#leaves.length > 0) await this.#store(null)
      return this.#head
    }
    const origin = key.key.name
    const note = signCheckpoint({ origin, size, root: edgeRoot(this.#edge) }, key)
    const head = { origin, size, note, at: clock.now() }
    await this.#store(head)
    this.#head = head
    this.#failure = null
    return head
  }

  /**
   * The key of the current origin. Begins an origin when there is none, when this machine does not have its key, and
   * after an accepted loss. Throws when the log does not continue its last signed head and no person has accepted the
   * loss.
   */
  async #ready(): Promise<NoteSigner> {
    if (this.#key !== null && this.#broken === null) return this.#key
    const { streams, store, acceptedLosses, shared } = this.#ports
    const state = await streams.state(proof, PROOF_ID)
    const { owned, known, vkey } = await this.#owned(state)
    // The heads of the lost part may be known elsewhere, even if the log continues every head that is stored here.
    const isLost = (await acceptedLosses()) > (state?.losses ?? 0)
    const head = known === undefined ? null : await store.lastHead(known.key.name)
    // The origin began after the broken head, and the process ended before the first head of the origin.
    if (this.#broken !== null && known !== undefined && head === null) this.#broken = null
    // On servers another process may have begun the origin just now.
    const isSafe = head !== null || known?.key.name === this.#begun || shared === true
    if (known !== undefined && this.#broken === null && !isLost && isSafe) {
      this.#head = head !== null && isSignedBy([known.key], head) ? head : null
      this.#key = known
      return known
    }
    const { origin } = this.#broken ?? {}
    const ownsBroken = owned.some(({ key }) => key.name === origin)
    if (shared === true && known === undefined && !ownsBroken) await this.#mustBeFirst(state, vkey)
    const reason = isLost ? 'loss' : known !== undefined && !isSafe ? 'heads_lost' : this.#reason(state, owned)
    const key = await this.#made(state, owned)
    await this.#begin(key, reason, state, SYSTEM)
    this.#head = null
    this.#broken = null
    await this.#catchUp()
    this.#key = key
    return key
  }

  /** The keys of this machine. `known`: the key with the verifier key of the current origin. */
  async #owned(state: ProofState | null) {
    const owned = await this.#ports.keys.read()
    const vkey = state === null ? undefined : currentOrigin(state).vkeys.at(-1)
    return { owned, vkey, known: owned.find(({ key }) => formatVkey(key) === vkey) }
  }

  /** Throws if the log was signed before: another machine has the key. */
  async #mustBeFirst(state: ProofState | null, vkey: string | undefined): Promise<void> {
    const origin = state === null ? (await this.#ports.store.lastHead())?.origin : currentOrigin(state).origin
    if (origin === undefined) return
    throw keyElsewhere(lacks(origin, vkey))
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

  async #begin(
    { key }: NoteSigner,
    reason: (typeof ORIGIN_REASONS)[number],
    state: ProofState | null,
    by: Actor,
  ): Promise<void> {
    const last = await this.#lastCheckpoint()
    const after: TreeHead | null = last && { origin: last.origin, size: last.size, root: base64(last.root) }
    const current = state === null ? null : currentOrigin(state).origin
    const command = { kind: 'begin', current, origin: key.name, vkey: formatVkey(key), reason, after } as const
    await this.#ports.streams.submit(proof, PROOF_ID, command, { by, commandId: `begin:${key.id}` })
    this.#begun = key.name
  }

  #fail(error: Error): void {
    const { message } = error
    if (message === this.#failure) return
    // Another machine or program can sign the log, so this is no failure of the log.
    if (isKeyElsewhere(error) || (error instanceof LogError && error.code === 'LOG_NEWER'))
      return this.#over?.abort(error)
    // Other parts report outages.
    if (!isUnavailable(error)) this.#ports.warn(`the log's heads are not signed: ${message}`)
    this.#failure = message
    const { store, clock } = this.#ports
    // Other processes show it, as far as the store works. It is over when a later head is signed.
    store.report('signer', { message, at: clock.now() }).catch(() => undefined)
  }
}

const lacks = (origin: string, vkey = '') =>
  `this machine does not have the key of ${origin}${vkey === '' ? '' : ` (${vkey})`}, so it leaves the signatures to others`

/** Whether one of the keys signed the head, with the size and origin that the store names. */
function isSignedBy(keys: readonly NoteKey[], { note, origin, size }: SignedHead): boolean {
  try {
    const signed = openCheckpoint(note, keys)
    return signed.origin === origin && signed.size === size
  } catch {
    return false
  }
}
