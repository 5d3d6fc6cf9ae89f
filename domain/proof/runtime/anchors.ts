import type { Actor } from '../../log/envelope.ts'
import { hex } from '../../log/ids.ts'
import { parseCheckpoint } from '../../log/proof/checkpoint.ts'
import { base64 } from '../../log/proof/encoding.ts'
import { splitNote } from '../../log/proof/note.ts'
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
    const { signer, streams, keepers, clock, random } = this.#ports
    const { size } = head
    try {
      const before = state?.anchored[anchor]
      const last = before?.origin === head.origin ? before.size : 0
      const kept = await keepers[as.kind].keep(as, head, last, (old) => signer.consistency(old, size))
      const { origin, root } = parseCheckpoint(splitNote(head.note).text)
      await streams.submit(
        proof,
        PROOF_ID,
        {
          kind: 'record',
          anchor,
          head: { origin, size, root: base64(root) },
          checkpoint: kept.checkpoint,
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

  /** A failure that cannot be stored is still in the answer. */
  async #report(anchor: string, failure: Failure | null): Promise<void> {
    await this.#ports.store.report(`anchor:${anchor}`, failure).catch(() => undefined)
  }
}
