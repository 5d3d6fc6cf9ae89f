import type { DamagedEvent } from '../../log/damage.ts'
import type { Actor, Header } from '../../log/envelope.ts'
import { LogError } from '../../log/errors.ts'
import type { LogLoss } from '../../log/loss/loss.ts'
import { type LogCheckpoint, openCheckpoint, parseCheckpoint } from '../../log/proof/checkpoint.ts'
import { base64, equalBytes, hashFromBase64 } from '../../log/proof/encoding.ts'
import { openNote, parseVkey, splitNote } from '../../log/proof/note.ts'
import { ProofError } from '../../log/proof/proof-error.ts'
import { appendLeaves, type Edge, EMPTY_EDGE, edgeRoot, eventLeaf } from '../../log/proof/tree.ts'
import type { SignedHead, TreeStore } from '../../ports/proof.ts'
import type { ORIGIN_REASONS } from '../events.ts'
import { PROOF_STREAM } from '../kind.ts'
import { type Coverage, coverageOf } from './coverage.ts'
import { type FactStores, proofFacts } from './proof-facts.ts'
import { StoredEdge, StoredTiles } from './stored-tiles.ts'

/** A fault of the log's heads. `size`: the number of events that the head covers; null: no head is concerned. */
export interface HeadProblem {
  readonly code: 'HEAD' | 'KEY' | 'ANCHOR' | 'CHECKPOINT' | 'CUT' | 'TREE'
  readonly size: number | null
  readonly message: string
}

/** What the signatures and anchors of a log prove. Numbers of events count from the log's first event. */
export interface VerifiedHeads {
  readonly ok: boolean
  readonly events: number
  /** The events that a valid signed head covers. The rest is only chained. */
  readonly signed: number
  /** The signed events that an anchor keeps a head of, according to the log. Its owner can write that alone. */
  readonly recorded: number
  /** The recorded events with evidence from outside: a head that an anchor holds now, or one that a witness cosigned. */
  readonly anchored: number
  readonly heads: number
  readonly origins: readonly BegunOrigin[]
  /** Heads of origins that ended with an accepted loss and that the log no longer contains. */
  readonly superseded: number
  /** The accepted losses of the log, and what heads of before knew. */
  readonly losses: readonly LossAgainstHeads[]
  readonly problems: readonly HeadProblem[]
  /** The checkpoint that the caller kept. `ok`: the log continues it. Absent: none was given. */
  readonly checkpoint?: { readonly ok: boolean; readonly origin: string | null; readonly size: number | null }
  /** How far the same heads cover each stream, in the order of their first events. Absent: not asked for. */
  readonly streams?: readonly StreamCovered[]
}

/** `reason`: why it began, at the time `at`. Null: the facts about its beginning are lost. */
export interface BegunOrigin {
  readonly origin: string
  readonly vkeys: readonly string[]
  readonly reason: (typeof ORIGIN_REASONS)[number] | null
  readonly at: string | null
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
  readonly what: Evidence | 'CHECKPOINT' | 'AFTER'
  readonly name: string
}

/** A head that the log signed, one that an anchor keeps according to the log, and one with evidence from outside. */
type Evidence = 'HEAD' | 'RECORDED' | 'ANCHOR'

interface Origin extends BegunOrigin {
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

/** The ranges in order. Those that overlap become one. */
function merged(ranges: LogLoss['gaps']): LogLoss['gaps'] {
  const found: { from: number; to: number }[] = []
  for (const { from, to } of [...ranges].sort((a, b) => a.from - b.from)) {
    const last = found.at(-1)
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to)
    else found.push({ from, to })
  }
  return found
}

const PAGE = 500

export interface HeadStores extends FactStores {
  readonly store: TreeStore | null
  readonly acceptedLosses: readonly AcceptedLoss[]
}

/** The event of an accepted loss, and what it records. */
export interface AcceptedLoss {
  readonly event: { readonly header: Pick<Header, 'actor' | 'timestamp'> }
  readonly loss: Pick<LogLoss, 'end' | 'gaps' | 'kept' | 'reason'>
}

/** A checkpoint that an anchor holds. `vkey`: the key of the witness that must have cosigned it. */
export interface HeldCheckpoint {
  readonly anchor: string
  readonly checkpoint: string
  readonly vkey?: string | undefined
}

/** `checkpoint`: a note that the caller kept. `vkeys`: keys of the log from elsewhere; the log must have used them. */
export interface HeadWishes {
  readonly perStream?: boolean
  readonly checkpoint?: string | undefined
  readonly vkeys?: readonly string[] | undefined
}

/**
 * Compares the log with every signed head, every recorded anchor, the facts about keys and the stored tree. `outside`:
 * checkpoints read from the anchors. Reads the header of each event once; the memory grows with the number of heads, and
 * of streams if `perStream`. Rejects with `LOG_NEWER` at an event of a newer version.
 */
export async function verifyHeads(
  { log, store, acceptedLosses, blobs }: HeadStores,
  outside: readonly HeldCheckpoint[] = [],
  { perStream = false, checkpoint, vkeys = [] }: HeadWishes = {},
): Promise<VerifiedHeads> {
  const problems: HeadProblem[] = []
  const { origins, anchors, afters, isPending } = await factsOf({ log, blobs }, acceptedLosses.length, problems)
  const claims: Claim[] = [...afters]
  for (const vkey of vkeys)
    if (!origins.some((one) => one.vkeys.includes(vkey))) {
      const message = `the log never signed with ${vkey}: it was written anew with other keys, or the key is of another log`
      problems.push({ code: 'KEY', size: null, message })
    }
  // A loss can have cut the facts about the keys of the origins before it.
  const isCut = (origin: string | null) =>
    (isPending || origins.some(({ loss }) => loss !== null)) &&
    origins.every((one) => one.loss !== null || one.origin !== origin)
  const losses = acceptedLosses.map((accepted): Loss => ({ accepted, last: lastKept(accepted), kept: 0, head: null }))
  const superseded: (Pick<Claim, 'what' | 'name' | 'size'> & { readonly loss: number | null })[] = []
  const supersede = ({ what, name, size }: Pick<Claim, 'what' | 'name' | 'size'>, loss: number | null) =>
    void superseded.push({ what, name, size, loss })
  const claim = (what: Claim['what'], name: string, note: string, size: number | null = null) => {
    const opened = opening(note, origins)
    const code = codeOf(what)
    if ('message' in opened) {
      if (opened.isUnsigned && isCut(opened.origin)) supersede({ what, name, size: opened.size ?? 0 }, null)
      else problems.push({ code, size: opened.size, message: `${name}: ${opened.message}` })
    } else if (size !== null && size !== opened.size)
      problems.push({ code, size, message: `${name}: its note covers ${opened.size} events` })
    else claims.push({ what, name, ...opened })
  }
  let heads = 0
  let missing = 0
  for await (const head of headsOf(store)) {
    heads += 1
    if (head.number !== heads + missing) {
      const [first, last] = [heads + missing, head.number - 1]
      const which = first === last ? `head number ${first} is` : `heads number ${first} to ${last} are`
      problems.push({ code: 'HEAD', size: null, message: `the ${which} missing: somebody removed signed heads` })
      missing = head.number - heads
    }
    claim('HEAD', `the head of ${head.size} events`, head.note, head.size)
  }
  const anchored = (name: string, vkey: string | undefined, checkpoint: string, what: Evidence = 'ANCHOR') => {
    if (vkey === undefined || isCosigned(checkpoint, vkey)) claim(what, name, checkpoint)
    else problems.push({ code: 'ANCHOR', size: null, message: `${name} has no valid cosignature of its witness` })
  }
  // Whoever has the key can write that an anchor keeps a head. Only a witness can make its cosignature.
  for (const { anchor, vkey, checkpoint } of anchors)
    anchored(`the anchor ${anchor}`, vkey, checkpoint, vkey === undefined ? 'RECORDED' : 'ANCHOR')
  for (const { anchor, checkpoint, vkey } of outside)
    anchored(`the head that the anchor ${anchor} holds`, vkey, checkpoint)
  const kept = checkpoint === undefined ? null : opening(checkpoint, origins, vkeys)
  if (kept !== null) {
    const { origin, size } = kept
    const message =
      'message' in kept
        ? kept.message
        : origins.some((one) => one.origin === origin)
          ? null
          : `the log never had the name ${origin}`
    if (message === null) claims.push({ what: 'CHECKPOINT', name: KEPT, ...(kept as LogCheckpoint) })
    else problems.push({ code: 'CHECKPOINT', size, message: `${KEPT}: ${message}` })
  }
  if (anchors.length > 0 && heads === 0 && store !== null)
    problems.push({
      code: 'HEAD',
      size: null,
      message: 'no signed head is stored, but the log names anchored heads: the heads were removed',
    })
  claims.sort((a, b) => a.size - b.size)

  const proved = { HEAD: 0, RECORDED: 0, ANCHOR: 0 }
  const streams = perStream ? new CoveredStreams() : null
  const stored = store && (await StoredEdge.of(store))
  const tiles = store && new StoredTiles(store, stored?.size ?? 0)
  const lossOf = ({ origin }: Claim) => origins.find((one) => one.origin === origin && one.loss !== null)?.loss ?? null
  // No position is missing among the events so far, except those of accepted losses.
  let isDense = true
  const gaps = merged(acceptedLosses.flatMap(({ loss }) => loss.gaps))
  const gapsBefore = (position: number) =>
    gaps.reduce((sum, { from, to }) => sum + (to < position ? to - from + 1 : 0), 0)
  let firstPosition: number | null = null
  // Whether a loss can have cut one of the first events of the log. Positions of event stores are not dense, so a cut
  // stream leaves no gap there: only the signed tree told the acceptance what was lost.
  const mayCut = ({ accepted: { loss }, kept }: Loss, size: number): boolean =>
    loss.kept === undefined ? !isDense || kept < size : loss.kept < size
  const isKept = (one: Claim): boolean => !losses.slice(lossOf(one)!).some((loss) => mayCut(loss, one.size))
  const compare = (one: Claim, edge: Edge | null) => {
    if (edge !== null && equalBytes(one.root, edgeRoot(edge))) {
      if (one.what === 'CHECKPOINT' || one.what === 'AFTER') return
      proved[one.what] = one.size
      streams?.cover(one.what)
    } else if (one.what !== 'CHECKPOINT' && lossOf(one) !== null && !isKept(one)) {
      // The head itself is named with what it knew, if anything still holds it.
      if (one.what !== 'AFTER') supersede(one, lossOf(one))
    } else
      problems.push({
        code: edge === null && one.what !== 'CHECKPOINT' ? 'CUT' : codeOf(one.what),
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
      const grown = appendLeaves(edge, [eventLeaf(event.hash)])
      edge = grown.edge
      const comparing = tiles?.add(event.position, grown.completed)
      if (comparing) await comparing
      stored?.compare(edge)
      streams?.add(event.header.stream)
      firstPosition ??= event.position
      isDense &&= event.position === firstPosition + edge.size - 1 + gapsBefore(event.position)
      for (const one of losses) if (event.position <= one.last) one.kept = edge.size
      for (; claims[next]?.size === edge.size; next += 1) compare(claims[next]!, edge)
    }
  }
  for (; next < claims.length; next += 1) compare(claims[next]!, null)
  for (const one of losses) one.kept = one.accepted.loss.kept ?? one.kept
  for (const [at, one] of problems.entries())
    if (one.code === 'HEAD' && one.size !== null && one.size > edge.size) problems[at] = { ...one, code: 'CUT' }
  for (const { what, name, size, loss } of superseded) {
    // A loss that cut the key of a head kept fewer events than the head covers.
    const at = loss ?? losses.findLastIndex(({ kept }) => kept < size)
    if (loss === null && size > 0 && !losses.some((one) => mayCut(one, size)))
      problems.push({
        code: codeOf(what),
        size,
        message: `${name}: no key of the log signed it, and no accepted loss explains that: each one kept more events`,
      })
    const ended = losses.at(at)
    if (ended !== undefined && size >= (ended.head?.size ?? 0)) ended.head = { name, size }
  }
  await tiles?.end()
  // A log that was changed gives other hashes than the stored tree has.
  if (problems.length === 0) {
    problems.push(...treeProblems(tiles?.faults ?? [], stored?.isSound !== false))
    // An accepted loss removes the tree until the next signature.
    if (store !== null && heads > 0 && !isPending && (await stored?.isMissing(store)))
      problems.push(treeProblem('no tree is stored, but signed heads are'))
  }
  return {
    ok: problems.length === 0,
    events: edge.size,
    ...nested(proved),
    heads,
    origins: origins.map(({ loss: _, ...origin }) => origin),
    superseded: superseded.length,
    losses: losses.map(({ accepted: { event, loss }, kept, head }) => ({
      ...{ by: event.header.actor, at: event.header.timestamp, reason: loss.reason ?? null },
      ...{ kept, head },
    })),
    problems: problems.slice(0, MAX_PROBLEMS),
    ...(kept !== null && {
      checkpoint: {
        ok: !problems.some(({ code }) => code === 'CHECKPOINT'),
        origin: kept.origin,
        size: kept.size,
      },
    }),
    ...(streams !== null && { streams: streams.all() }),
  }
}

const KEPT = 'the checkpoint that you kept'

const CODES = { HEAD: 'HEAD', AFTER: 'HEAD', RECORDED: 'ANCHOR', ANCHOR: 'ANCHOR', CHECKPOINT: 'CHECKPOINT' } as const
const codeOf = (what: Claim['what']): HeadProblem['code'] => CODES[what]

/** Anchored events are recorded as such, and anchored heads are signed. */
const nested = ({ HEAD, RECORDED, ANCHOR }: Readonly<Record<Evidence, number>>) => {
  const recorded = Math.max(RECORDED, ANCHOR)
  return { signed: Math.max(HEAD, recorded), recorded, anchored: ANCHOR }
}

const treeProblems = (hashes: readonly string[], isEdgeSound: boolean): HeadProblem[] =>
  [...hashes, ...(isEdgeSound ? [] : ['the stored edge of the tree is not the one of the log'])].map(treeProblem)

const treeProblem = (fault: string): HeadProblem => ({
  ...{ code: 'TREE', size: null },
  message: `${fault}; proofs of events fail: "keepup call rebuildProofTree" makes the tree from the log`,
})

/** Counts the events of each stream that heads cover, in one pass over the log: each event is looked at three times. */
class CoveredStreams {
  readonly #streams = new Map<string, { events: number } & Record<Evidence, number>>()
  /** The streams with events after the last head of each kind. */
  readonly #since = { HEAD: new Set<string>(), RECORDED: new Set<string>(), ANCHOR: new Set<string>() }

  add(stream: string): void {
    const counts = this.#streams.get(stream) ?? { events: 0, HEAD: 0, RECORDED: 0, ANCHOR: 0 }
    counts.events += 1
    this.#streams.set(stream, counts)
    for (const since of Object.values(this.#since)) since.add(stream)
  }

  /** A head covers all events so far. */
  cover(what: Evidence): void {
    for (const stream of this.#since[what]) {
      const counts = this.#streams.get(stream)!
      counts[what] = counts.events
    }
    this.#since[what].clear()
  }

  all(): StreamCovered[] {
    return [...this.#streams].map(([stream, { events, ...counts }]) => {
      const { signed, recorded, anchored } = nested(counts)
      return { stream, proof: coverageOf(events, signed, recorded, anchored) }
    })
  }
}

const MAX_PROBLEMS = 100

async function* headsOf(store: TreeStore | null): AsyncGenerator<SignedHead & { readonly number: number }> {
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

/** `trusted`: keys to open the note with instead of those of the origins; empty: none. */
function opening(note: string, origins: readonly Origin[], trusted: readonly string[] = []): LogCheckpoint | Unopened {
  try {
    const keys = (trusted.length > 0 ? trusted : origins.flatMap(({ vkeys }) => vkeys)).map(parseVkey)
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
  /** The heads after which origins began. */
  const afters: Claim[] = []
  /** The keys of the anchors that are witnesses. */
  const witnesses = new Map<string, string | undefined>()
  let losses = 0
  for await (const { recorded, event } of proofFacts(stores)) {
    if (event instanceof Error) {
      const message = `${PROOF_STREAM}@${recorded.header.revision}: ${event.message}`
      problems.push({ code: 'KEY', size: null, message })
      continue
    }
    if (event.type === 'log_key_created') {
      const { origin, vkey, reason, after } = event.body
      if (reason === 'first' && origins.length > 0)
        problems.push({ code: 'KEY', size: null, message: `${origin} began as the first name, but others are older` })
      // The loss may have removed the previous origin's facts.
      if (after !== null && !origins.some((one) => one.origin === after.origin))
        origins.push({ origin: after.origin, vkeys: [], reason: null, at: null, loss: null })
      if (reason === 'loss') {
        // Heads of earlier origins may cover lost events.
        if (losses < acceptedLosses) for (const one of origins) one.loss ??= losses
        else
          problems.push({ code: 'KEY', size: null, message: `${origin} began after a loss that nobody has accepted` })
      }
      if (reason === 'loss') losses += 1
      if (after !== null)
        afters.push({
          ...{ what: 'AFTER', name: `the head after which ${origin} began` },
          ...{ origin: after.origin, size: after.size, root: hashFromBase64(after.root) },
        })
      origins.push({ origin, vkeys: [vkey], reason, at: recorded.header.timestamp, loss: null })
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
  // The next signature begins the origin after the loss. Until then, heads of the present one may cover lost events.
  const isPending = losses < acceptedLosses
  if (isPending) for (const one of origins) one.loss ??= losses
  return { origins, anchors, afters, isPending }
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
