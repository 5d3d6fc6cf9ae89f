import type { Actor } from '../../log/envelope.ts'
import { hex } from '../../log/ids.ts'
import { type LogCheckpoint, openCheckpoint, parseCheckpoint } from '../../log/proof/checkpoint.ts'
import { base64 } from '../../log/proof/encoding.ts'
import { parseVkey, splitNote } from '../../log/proof/note.ts'
import { ProofError } from '../../log/proof/proof-error.ts'
import { verifyConsistency } from '../../log/proof/tree-proof.ts'
import type { Clock, Random } from '../../ports/index.ts'
import type { AnchorKeeper, Failure, SignedHead, TreeStore } from '../../ports/proof.ts'
import type { Streams } from '../../stream/runtime/streams.ts'
import { alarm, within } from '../../stream/runtime/time-limit.ts'
import type { AnchorKind } from '../events.ts'
import { type Anchor, PROOF_ID, type ProofState, proof } from '../kind.ts'
import type { LogSigner } from './log-signer.ts'

export interface AnchorPorts {
  readonly signer: Pick<LogSigner, 'latest' | 'consistency'>
  /** Remembers the failures. */
  readonly store: TreeStore
  readonly streams: Streams
  readonly keepers: Readonly<Record<AnchorKind, AnchorKeeper>>
  readonly clock: Clock
  readonly random: Random
  /** The time between two rounds, in ms; null: on demand only. */
  readonly everyMs: number | null
  /** Whether this process makes the rounds now; absent: always. */
  readonly active?: () => boolean
  readonly warn: (text: string) => void
}

export type Anchored = { readonly anchor: string; readonly size: number } & (
  | { readonly ok: true }
  | { readonly ok: false; readonly message: string }
)

interface Kept {
  readonly checkpoint: LogCheckpoint
  /** With the cosignature of a witness. */
  readonly note: string
  readonly receipt: Uint8Array | null
}

/** An anchor holds a head of more events than the one that it should keep. */
class Ahead extends Error {
  readonly size: number
  constructor(size: number, head: SignedHead) {
    super(
      `it holds a head of ${size} events, and the log has ${head.size}; the log was cut or put back to an older ` +
        'state: run keepup verify --anchors',
    )
    this.size = size
  }
}

const SYSTEM: Actor = { kind: 'system', id: 'anchors' }
/** How long the end waits for a running round, in ms. */
const CLOSE_MS = 3_000

/** Leaves signed heads with the log's anchors: in rounds and on demand. A failing anchor delays nothing else. */
export class LogAnchors {
  readonly #ports: AnchorPorts
  /** The size of the log after a round in which nothing but the anchors was recorded; -1: a new round is needed. */
  #quiet = -1
  #running: Promise<unknown> = Promise.resolve()
  #cancel = () => {}
  #closed = false

  constructor(ports: AnchorPorts) {
    this.#ports = ports
    this.#later()
  }

  /** Anchors the current head with one anchor or with all. Rejects only if the head cannot be signed. */
  now(anchor?: string, by: Actor = SYSTEM): Promise<readonly Anchored[]> {
    const round = this.#running.then(() => this.#round(anchor, by))
    this.#running = round.catch(() => {})
    return round
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#cancel()
    await within(this.#ports.clock, CLOSE_MS, 'a round of anchors', this.#running).catch(() => undefined)
  }

  #later(): void {
    const { everyMs, clock, warn } = this.#ports
    if (everyMs === null || this.#closed) return
    this.#cancel = alarm(clock, everyMs, () => {
      void this.#due()
        .catch((error: Error) => warn(`the log is not anchored: ${error.message}`))
        .finally(() => this.#later())
    })
  }

  async #due(): Promise<void> {
    const { signer, streams, active = () => true } = this.#ports
    if (!active()) return
    const state = await streams.state(proof, PROOF_ID)
    if (Object.keys(state?.anchors ?? {}).length === 0) return
    if ((await signer.latest())?.size === this.#quiet || this.#closed) return
    for (const done of await this.now()) if (!done.ok) this.#ports.warn(`the anchor ${done.anchor}: ${done.message}`)
  }

  async #round(only: string | undefined, by: Actor): Promise<readonly Anchored[]> {
    const { signer, streams } = this.#ports
    const head = await signer.latest()
    if (head === null) return []
    const state = await streams.state(proof, PROOF_ID)
    const all = Object.entries(state?.anchors ?? {})
    const chosen = all.filter(([anchor]) => only === undefined || anchor === only)
    const done = await Promise.all(chosen.map(([anchor, as]) => this.#one(anchor, as, head, state, by)))
    const after = (await signer.latest())?.size
    const isQuiet = after === head.size + done.length && done.length === all.length && done.every(({ ok }) => ok)
    this.#quiet = isQuiet ? after : -1
    return done
  }

  async #one(anchor: string, as: Anchor, head: SignedHead, state: ProofState | null, by: Actor): Promise<Anchored> {
    const { streams, clock, random } = this.#ports
    let { size } = head
    try {
      const before = state?.anchored[anchor]
      const last = before?.origin === head.origin ? before.size : 0
      const { checkpoint, ...kept } = await this.#keep(as, head, last, state)
      size = checkpoint.size
      const { origin, root } = checkpoint
      await streams.submit(
        proof,
        PROOF_ID,
        {
          kind: 'record',
          anchor,
          addition: state?.additions[anchor] ?? 0,
          head: { origin, size, root: base64(root) },
          checkpoint: kept.note,
          receipt: kept.receipt === null ? null : base64(kept.receipt),
        },
        { by, commandId: `anchor:${hex(random.bytes(16))}` },
      )
      await this.#report(anchor, null)
      return { anchor, size, ok: true }
    } catch (error) {
      const { message } = error as Error
      await this.#report(anchor, { message, at: clock.now() })
      return { anchor, size, ok: false, message }
    }
  }

  /**
   * Leaves a head with an anchor, unless the anchor holds one that contradicts it: the log was then cut, put back to an
   * older state, or written anew. Takes the latest head if another process left a later one with the anchor just now.
   */
  async #keep(as: Anchor, head: SignedHead, last: number, state: ProofState | null, isLatest = false): Promise<Kept> {
    const { signer, keepers } = this.#ports
    const checkpoint = parseCheckpoint(splitNote(head.note).text)
    const consistency = async (old: number) => {
      if (old > head.size) throw new Ahead(old, head)
      return signer.consistency(old, head.size)
    }
    try {
      const held = await this.#largest(as, head.origin, state)
      if (held !== null) {
        const proof = await consistency(held.size)
        if (!verifyConsistency(held.size, head.size, held.root, checkpoint.root, proof))
          throw new Error(
            `it holds a head of ${held.size} events that the log of ${head.size} does not continue; the log was ` +
              'written anew: run keepup verify --anchors',
          )
      }
      const { checkpoint: note, receipt } = await keepers[as.kind].keep(as, head, last, consistency)
      return { checkpoint, note, receipt }
    } catch (error) {
      if (isLatest || !(error instanceof Ahead)) throw error
      const latest = await signer.latest()
      if (latest === null || latest.origin !== head.origin || latest.size < error.size) throw error
      return this.#keep(as, latest, last, state, true)
    }
  }

  /** The largest head of an origin, signed by a key of it, that an anchor on this machine holds. */
  async #largest({ kind, ...place }: Anchor, origin: string, state: ProofState | null): Promise<LogCheckpoint | null> {
    const keys = (state?.origins ?? []).flatMap(({ vkeys }) => vkeys.map(parseVkey))
    for await (const note of this.#ports.keepers[kind].later?.(place, origin, 0) ?? []) {
      try {
        const opened = openCheckpoint(note, keys)
        if (opened.origin === origin) return opened
      } catch (error) {
        // A process died while it wrote the file, or a key signed that the log does not know.
        if (!(error instanceof ProofError)) throw error
      }
    }
    return null
  }

  /** A failure that cannot be stored is still in the answer. */
  async #report(anchor: string, failure: Failure | null): Promise<void> {
    await this.#ports.store.report(`anchor:${anchor}`, failure).catch(() => undefined)
  }
}
