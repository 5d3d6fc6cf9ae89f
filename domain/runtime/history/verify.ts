import { bodyFault, decode } from '../../agent/events/codec.ts'
import type { AgentEvent, Attachment } from '../../agent/events/events.ts'
import { digestOf, FOLD } from '../../agent/state/digest.ts'
import { evolve } from '../../agent/state/evolve.ts'
import type { AgentState } from '../../agent/state/state.ts'
import { isStreamDamage } from '../../log/damage.ts'
import type { Header, RecordedEvent } from '../../log/envelope.ts'
import { LogError } from '../../log/errors.ts'
import { agentStream } from '../../log/ids.ts'
import { ownerOf } from '../../log/owner.ts'
import { StreamVerifier } from '../../log/verify.ts'
import { Residues } from '../erasure/residues.ts'
import type { Verification } from '../types.ts'
import { attachmentIn, isAttached } from './attachments.ts'
import type { Stores } from './bodies.ts'
import { newerFold } from './check-digest.ts'
import { stateAt } from './replay.ts'

type Problem = Verification['problems'][number]

/**
 * Proves an agent's stream: the chain and every body against its hash, shapes and times, and by folding it again every
 * digest that was recorded. A fork's prefix is proved with its source; here only its link is. A stream that the log cannot
 * give (a tombstone, a truncation, an event of another program) is a problem at the first event that was not given.
 */
export async function verifyAgent(stores: Stores, agentId: string): Promise<Verification> {
  const stream = agentStream(agentId)
  const chain = new StreamVerifier(stream)
  const fold = new FoldVerifier(stores)
  const residues = new Residues(stores, stream)
  const attached: Problem[] = []
  let unreadable: string | null = null
  try {
    for await (const page of stores.log.read(stream)) {
      const blobs = new Map<number, Uint8Array | null>()
      for (const event of page) {
        if (event.header.body.place === 'blob' && !event.erased)
          blobs.set(event.header.revision, await blobOf(stores, event))
      }
      chain.page(page, blobs)
      for (const event of page) {
        const left = event.erased ? await residues.of(event.header) : null
        const own = event.erased ? null : (event.body ?? blobs.get(event.header.revision))
        const attachment = attachmentIn(event.header, own)
        const lost = attachment && (await attachmentFault(stores, event, attachment))
        if (lost) attached.push({ revision: event.header.revision, code: 'BLOB', message: lost })
        const waits = fold.next(event, blobs.get(event.header.revision), left)
        if (waits !== null) await waits
      }
    }
  } catch (error) {
    if (!isStreamDamage(error)) throw error
    unreadable = error.message
  }
  const { events, head, erased, problems } = chain.result()
  const given: Problem[] = unreadable === null ? [] : [{ revision: events, code: 'CHAIN', message: unreadable }]
  const all: Problem[] = [...problems, ...fold.problems, ...attached, ...given].sort((a, b) => a.revision - b.revision)
  const { digests, recorded } = fold
  const ok = all.length === 0 && events > 0
  return { agentId, events, ok, head, erased, problems: all, digests, unchecked: recorded - digests }
}

/** What is wrong with the whole result that an event names; null: nothing. */
async function attachmentFault(
  { blobs }: Stores,
  { header }: RecordedEvent,
  attachment: Attachment,
): Promise<string | null> {
  try {
    const sound = await isAttached(blobs, ownerOf(header), attachment)
    return sound ? null : 'the whole result that it names is not the one that was stored'
  } catch (error) {
    if (error instanceof LogError && error.code === 'BLOB_MISSING') return 'the whole result that it names is missing'
    throw error
  }
}

async function blobOf(stores: Stores, event: RecordedEvent): Promise<Uint8Array | null> {
  try {
    return await stores.blobs.get(ownerOf(event.header), event.header.body.hash)
  } catch (error) {
    if (error instanceof LogError && error.code === 'BLOB_MISSING') return null
    throw error
  }
}

/** Folds again and holds each recorded digest against its own. Says the first event where they part, then stops. */
class FoldVerifier {
  readonly problems: Problem[] = []
  digests = 0
  recorded = 0
  private newer = false
  private readonly stores: Stores
  private state: AgentState | null = null
  private stopped = false

  constructor(stores: Stores) {
    this.stores = stores
  }

  /**
   * Takes the next event, `left`: what an erasure kept of it; null: it is done. Only a fork's first event has to wait, for
   * its source.
   */
  next(recorded: RecordedEvent, blob: Uint8Array | null | undefined, left: AgentEvent | null): Promise<void> | null {
    const body = blob === undefined ? recorded.body : blob
    if (recorded.header.digest !== undefined) this.recorded++
    if (this.stopped) return null
    if (left === null && (recorded.erased || body === null)) {
      // What follows a missing body, or one of which nothing was kept, cannot be folded; the chain still proves it.
      this.stopped = true
      return null
    }
    const { header } = recorded
    try {
      const event = left ?? decode(header, body as Uint8Array)
      const fault = bodyFault(event.type, event.body)
      if (fault !== null)
        this.report(header.revision, 'SHAPE', `the body of ${event.type} has not its recorded shape: ${fault}`)
      if (event.type === 'forked') {
        const linked = this.startFromSource(event.body).then(() => this.fold(header, event))
        return linked.catch((error: unknown) => this.stopAt(header, error))
      }
      this.fold(header, event)
    } catch (error) {
      this.stopAt(header, error)
    }
    return null
  }

  private fold(header: Header, event: AgentEvent): void {
    const state = evolve(this.state, event)
    this.state = state
    if (header.digest === undefined || !this.isOurs(header.revision, header.digest)) return
    this.digests++
    if (digestOf(state) === header.digest.value) return
    this.stopped = true
    this.report(header.revision, 'DIGEST', `the state folded here is not the one that was recorded at ${header.type}`)
  }

  /**
   * Did this fold make it? One of before is left to what was proved then; one that is not known here proves nothing,
   * which is told once.
   */
  private isOurs(revision: number, { fold }: { fold: number }): boolean {
    if (fold > FOLD && !this.newer) this.report(revision, 'DIGEST', newerFold(fold))
    this.newer ||= fold > FOLD
    return fold === FOLD
  }

  private stopAt(header: Header, error: unknown): void {
    this.stopped = true
    this.report(header.revision, 'SHAPE', error instanceof Error ? error.message : String(error))
  }

  private async startFromSource(link: {
    stream: string
    revision: number
    hash: string
    digest: { fold: number; value: string }
  }): Promise<void> {
    const source = await stateAt(this.stores, link.stream.replace(/^agent-/, ''), { revision: link.revision })
    if (source.head.hash !== link.hash)
      this.report(0, 'CHAIN', `the source ${link.stream}@${link.revision} is not the one that was forked`)
    if (this.isOurs(0, link.digest) && digestOf(source.state) !== link.digest.value)
      this.report(0, 'DIGEST', 'the state at the fork point is not the one that was recorded')
    this.state = source.state
  }

  private report(revision: number, code: Problem['code'], message: string): void {
    this.problems.push({ revision, code, message })
  }
}
