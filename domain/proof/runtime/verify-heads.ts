import type { DamagedEvent } from '../../log/damage.ts'
import type { Actor, Header, RecordedEvent } from '../../log/envelope.ts'
import { LogError } from '../../log/errors.ts'
import type { LogLoss } from '../../log/loss/loss.ts'
import { type LogCheckpoint, openCheckpoint, parseCheckpoint } from '../../log/proof/checkpoint.ts'
import { base64, equalBytes } from '../../log/proof/encoding.ts'
import { openNote, parseVkey, splitNote } from '../../log/proof/note.ts'
import { ProofError } from '../../log/proof/proof-error.ts'
import { appendLeaves, type Edge, EMPTY_EDGE, edgeRoot, eventLeaf } from '../../log/proof/tree.ts'
import type { BlobStore, EventLog } from '../../ports/index.ts'
import type { SignedHead, TreeStore } from '../../ports/proof.ts'
import { bodyOf } from '../../stream/runtime/bodies.ts'
import type { ProofEvent } from '../events.ts'
import { PROOF_STREAM, proof } from '../kind.ts'
import { type Coverage, coverageOf } from './coverage.ts'

/** A fault of the log's heads. `size`: the number of events that the head covers; null: no head is concerned. */
export interface HeadProblem {
  readonly code: 'HEAD' | 'KEY' | 'ANCHOR' | 'CUT'
  readonly size: number | null
  readonly message: string
}

/** What the signatures and anchors of a log prove. Numbers of events count from the log's first event. */
export interface VerifiedHeads {
  readonly ok: boolean
  readonly events: number
  /** The events that a valid signed head covers, and those that a recorded anchor covers. The rest is only chained. */
  readonly signed: number
  readonly anchored: number
  readonly heads: number
  readonly origins: readonly { readonly origin: string; readonly vkeys: readonly string[] }[]
  /** Heads of origins that ended with an accepted loss and that the log no longer contains. */
  readonly superseded: number
  /** The accepted losses of the log, and what heads of before knew. */
  readonly losses: readonly LossAgainstHeads[]
  readonly problems: readonly HeadProblem[]
  /** How far the same heads cover each stream, in the order of their first events. Absent: not asked for. */
  readonly streams?: readonly StreamCovered[]
}

/**
 * An accepted loss. `kept`: the events of before the loss that the log has. `head`: the largest head of before that the
 * log no longer continues, with the number of events that it covers; null: the log continues every head.
 */
export interface LossAgainstHeads {
  readonly by: Actor
  readonly at: string
  readonly reason: string | null
  readonly kept: number
  readonly head: { readonly name: string; readonly size: number } | null
}

export interface StreamCovered {
  readonly stream: string
  readonly proof: Coverage
}

interface Claim extends LogCheckpoint {
  readonly what: 'HEAD' | 'ANCHOR'
  readonly name: string
}

interface Origin {
  readonly origin: string
  readonly vkeys: string[]
  /** The number of the accepted loss that ended the origin; null: none did. */
  loss: number | null
}

/** `last`: the position up to which the log kept all events. */
interface Loss {
  readonly accepted: AcceptedLoss
  readonly last: number
  kept: number
  head: { readonly name: string; readonly size: number } | null
}

const lastKept = ({ loss: { end, gaps } }: AcceptedLoss): number => Math.min(end, ...gaps.map(({ from }) => from - 1))

const PAGE = 500

export interface HeadStores {
  readonly log: EventLog
  /** Large facts, such as an anchor with a long receipt, have their bodies here. */
  readonly blobs: BlobStore
  readonly store: TreeStore | null
  readonly acceptedLosses: readonly AcceptedLoss[]
}

/** The event of an accepted loss, and what it records. */
export interface AcceptedLoss {
  readonly event: { readonly header: Pick<Header, 'actor' | 'timestamp'> }
  readonly loss: Pick<LogLoss, 'end' | 'gaps' | 'reason'>
}

/**
 * Compares the log with every signed head, every recorded anchor and the facts about keys. `outside`: checkpoints read
 * from the anchors. Reads the header of each event once; the memory grows with the number of heads, and of streams if
 * `perStream`. Rejects with `LOG_NEWER` at an event of a newer version.
 */
export async function verifyHeads(
  { log, store, acceptedLosses, blobs }: HeadStores,
  outside: readonly { readonly anchor: string; readonly checkpoint: string }[] = [],
  perStream = false,
): Promise<VerifiedHeads> {
  const problems: HeadProblem[] = []
  const { origins, anchors, witnesses } = await factsOf({ log, blobs }, acceptedLosses.length, problems)
  const claims: Claim[] = []
  // A loss can have cut the facts about the keys of the origins before it.
  const isCut = (origin: string | null) =>
    origins.some(({ loss }) => loss !== null) && origins.every((one) => one.loss !== null || one.origin !== origin)
  const losses = acceptedLosses.map((accepted): Loss => ({ accepted, last: lastKept(accepted), kept: 0, head: null }))
  let superseded = 0
  const supersede = (name: string, size: number, loss: number | null) => {
    superseded += 1
    const ended = losses[loss ?? losses.length - 1]
    if (ended !== undefined && size >= (ended.head?.size ?? 0)) ended.head = { name, size }
  }
  const claim = (what: Claim['what'], name: string, note: string, size: number | null = null) => {
    const opened = opening(note, origins)
    if ('message' in opened) {
      if (opened.isUnsigned && isCut(opened.origin)) supersede(name, opened.size ?? 0, null)
      else problems.push({ code: what, size: opened.size, message: `${name}: ${opened.message}` })
    } else if (size !== null && size !== opened.size)
      problems.push({ code: what, size, message: `${name}: its note covers ${opened.size} events` })
    else claims.push({ what, name, ...opened })
  }
  let heads = 0
  for await (const head of headsOf(store)) {
    heads += 1
    claim('HEAD', `the head of ${head.size} events`, head.note, head.size)
  }
  const anchored = (name: string, vkey: string | undefined, checkpoint: string) => {
    if (vkey === undefined || isCosigned(checkpoint, vkey)) claim('ANCHOR', name, checkpoint)
    else problems.push({ code: 'ANCHOR', size: null, message: `${name} has no valid cosignature of its witness` })
  }
  for (const { anchor, vkey, checkpoint } of anchors) anchored(`the anchor ${anchor}`, vkey, checkpoint)
  for (const { anchor, checkpoint } of outside)
    anchored(`the head that the anchor ${anchor} holds`, witnesses.get(anchor), checkpoint)
  if (anchors.length > 0 && heads === 0 && store !== null)
    problems.push({
      code: 'HEAD',
      size: null,
      message: 'no signed head is stored, but the log names anchored heads: the heads were removed',
    })
  claims.sort((a, b) => a.size - b.size)

  const proved = { HEAD: 0, ANCHOR: 0 }
  const streams = perStream ? new CoveredStreams() : null
  const lossOf = ({ origin }: Claim) => origins.find((one) => one.origin === origin && one.loss !== null)?.loss ?? null
  const compare = (one: Claim, edge: Edge | null) => {
    if (edge !== null && equalBytes(one.root, edgeRoot(edge))) {
      proved[one.what] = one.size
      streams?.cover(one.what)
    } else if (lossOf(one) !== null) supersede(one.name, one.size, lossOf(one))
    else
      problems.push({
        code: edge === null ? 'CUT' : one.what,
        size: one.size,
        message:
          edge === null
            ? `${one.name} covers ${one.size} events, and the log has ${size()}: its end was cut`
            : `${one.name} does not match the log: one of its first ${one.size} events was changed, removed or added`,
      })
  }
  let edge = EMPTY_EDGE
  const size = () => edge.size
  let next = 0
  let newer: string | null = null
  const onDamage = ({ code, message }: DamagedEvent) => {
    if (code === 'FORMAT_NEWER') newer = message
  }
  for await (const page of log.readAll(null, { bodies: false, everyKind: true, onDamage })) {
    if (newer !== null) throw new LogError('LOG_NEWER', newer)
    for (const event of page) {
      edge = appendLeaves(edge, [eventLeaf(event.hash)]).edge
      streams?.add(event.header.stream)
      for (const one of losses) if (event.position <= one.last) one.kept = edge.size
      for (; claims[next]?.size === edge.size; next += 1) compare(claims[next]!, edge)
    }
  }
  for (; next < claims.length; next += 1) compare(claims[next]!, null)
  for (const [at, one] of problems.entries())
    if (one.code === 'HEAD' && one.size !== null && one.size > edge.size) problems[at] = { ...one, code: 'CUT' }
  return {
    ok: problems.length === 0,
    events: edge.size,
    signed: Math.max(proved.HEAD, proved.ANCHOR),
    anchored: proved.ANCHOR,
    heads,
    origins: origins.map(({ origin, vkeys }) => ({ origin, vkeys })),
    superseded,
    losses: losses.map(({ accepted: { event, loss }, kept, head }) => ({
      ...{ by: event.header.actor, at: event.header.timestamp, reason: loss.reason ?? null },
      ...{ kept, head },
    })),
    problems: problems.slice(0, MAX_PROBLEMS),
    ...(streams !== null && { streams: streams.all() }),
  }
}

/** Counts the events of each stream that heads cover, in one pass over the log: each event is looked at three times. */
class CoveredStreams {
  readonly #streams = new Map<string, { events: number; HEAD: number; ANCHOR: number }>()
  /** The streams with events after the last head, and after the last anchored one. */
  readonly #since = { HEAD: new Set<string>(), ANCHOR: new Set<string>() }

  add(stream: string): void {
    const counts = this.#streams.get(stream) ?? { events: 0, HEAD: 0, ANCHOR: 0 }
    counts.events += 1
    this.#streams.set(stream, counts)
    this.#since.HEAD.add(stream)
    this.#since.ANCHOR.add(stream)
  }

  /** A head covers all events so far. */
  cover(what: 'HEAD' | 'ANCHOR'): void {
    for (const stream of this.#since[what]) {
      const counts = this.#streams.get(stream)!
      counts[what] = counts.events
    }
    this.#since[what].clear()
  }

  all(): StreamCovered[] {
    return [...this.#streams].map(([stream, { events, HEAD, ANCHOR }]) => ({
      stream,
      proof: coverageOf(events, Math.max(HEAD, ANCHOR), ANCHOR),
    }))
  }
}

const MAX_PROBLEMS = 100

async function* headsOf(store: TreeStore | null): AsyncGenerator<SignedHead> {
  for (let after = 0; store !== null; ) {
    const page = await store.heads(after, PAGE)
    yield* page
    if (page.length < PAGE) return
    after = page.at(-1)!.number
  }
}

interface Unopened {
  readonly message: string
  /** No known key has signed it. */
  readonly isUnsigned: boolean
  readonly origin: string | null
  readonly size: number | null
}

function opening(note: string, origins: readonly Origin[]): LogCheckpoint | Unopened {
  try {
    const keys = origins.flatMap(({ vkeys }) => vkeys.map(parseVkey))
    const { origin, size, root } = openCheckpoint(note, keys)
    return { origin, size, root }
  } catch (error) {
    const { message } = error as Error
    const isUnsigned = error instanceof ProofError && error.code === 'SIGNATURE_MISSING'
    try {
      const { origin, size } = parseCheckpoint(splitNote(note).text)
      return { message, isUnsigned, origin, size }
    } catch {
      return { message, isUnsigned, origin: null, size: null }
    }
  }
}

/** The origins and anchors that the facts in the log name. */
async function factsOf(stores: Pick<HeadStores, 'log' | 'blobs'>, acceptedLosses: number, problems: HeadProblem[]) {
  const origins: Origin[] = []
  const anchors: { anchor: string; vkey: string | undefined; checkpoint: string }[] = []
  /** The keys of the anchors that are witnesses. */
  const witnesses = new Map<string, string | undefined>()
  let losses = 0
  for await (const page of stores.log.read(PROOF_STREAM)) {
    for (const recorded of page) {
      if (recorded.erased) continue
      const event = await decoded(stores, recorded)
      if (event instanceof Error) {
        const message = `${PROOF_STREAM}@${recorded.header.revision}: ${event.message}`
        problems.push({ code: 'KEY', size: null, message })
        continue
      }
      if (event.type === 'log_key_created') {
        const { origin, vkey, reason, after } = event.body
        // The loss may have removed the previous origin's facts.
        if (after !== null && !origins.some((one) => one.origin === after.origin))
          origins.push({ origin: after.origin, vkeys: [], loss: null })
        if (reason === 'loss') {
          // Heads of earlier origins may cover lost events.
          if (losses < acceptedLosses) for (const one of origins) one.loss ??= losses
          else
            problems.push({ code: 'KEY', size: null, message: `${origin} began after a loss that nobody has accepted` })
        }
        if (reason === 'loss') losses += 1
        origins.push({ origin, vkeys: [vkey], loss: null })
      } else if (event.type === 'log_key_rotated') {
        const last = origins.at(-1)
        const { vkey, note } = event.body
        if (last === undefined || !isRotation(last, vkey, note))
          problems.push({ code: 'KEY', size: null, message: `the new key ${vkey} is not signed by the key before it` })
        else last.vkeys.push(vkey)
      } else if (event.type === 'anchor_added') witnesses.set(event.body.anchor, event.body.vkey)
      else if (event.type === 'anchor_made') {
        const { anchor, checkpoint, size, root } = event.body
        const said = opening(checkpoint, origins)
        if ('message' in said || (said.size === size && base64(said.root) === root))
          anchors.push({ anchor, vkey: witnesses.get(anchor), checkpoint })
        else
          problems.push({
            code: 'ANCHOR',
            size,
            message: `the anchor ${anchor} names another head than its checkpoint`,
          })
      }
    }
  }
  return { origins, anchors, witnesses }
}

async function decoded(
  stores: Pick<HeadStores, 'log' | 'blobs'>,
  recorded: RecordedEvent,
): Promise<ProofEvent | Error> {
  try {
    const event = proof.decode(recorded.header, await bodyOf(stores, recorded)) as ProofEvent
    const fault = proof.fault(event)
    return fault === null ? event : new Error(fault)
  } catch (error) {
    return error as Error
  }
}

function isCosigned(checkpoint: string, vkey: string): boolean {
  try {
    return openNote(checkpoint, [parseVkey(vkey)]).signatures.length > 0
  } catch {
    return false
  }
}

function isRotation({ origin, vkeys }: Origin, vkey: string, note: string): boolean {
  try {
    return openNote(note, [parseVkey(vkeys.at(-1)!)]).text === `${origin}\n${vkey}\n`
  } catch {
    return false
  }
}
