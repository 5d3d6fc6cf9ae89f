import { canonicalText } from '../canonical.ts'
import type { Header } from '../envelope.ts'
import { echo } from '../issues.ts'
import { bodyHash, GENESIS, hashAfter, SALT_BYTES } from '../seal.ts'
import { openCheckpoint } from './checkpoint.ts'
import { equalBytes, fromBase64 } from './encoding.ts'
import { formatVkey } from './note.ts'
import { hasQuorum, type PolicyLog, parsePolicy } from './policy.ts'
import { malformed, ProofError } from './proof-error.ts'
import { appendLeaves, EMPTY_EDGE, edgeRoot, eventLeaf } from './tree.ts'
import { verifyInclusion } from './tree-proof.ts'

export const BLOBS = 'blobs/'

/** The result for a pack. `place`: `stream@revision`, or the name of a file. */
export interface VerifiedPack {
  readonly ok: boolean
  readonly events: number
  readonly streams: number
  /** Events whose body is in the pack. */
  readonly bodies: number
  readonly erased: number
  readonly withheld: number
  /** The number of events of the log that the checkpoint covers; null: the checkpoint is not valid. */
  readonly size: number | null
  readonly origin: string | null
  /** The verifier keys of the log that signed the checkpoint, and the names of the witnesses that cosigned it. */
  readonly vkeys: readonly string[]
  readonly witnesses: readonly string[]
  /** In the order of their first events. */
  readonly contents: readonly PackedStream[]
  /** Why bodies are absent, as the pack says. */
  readonly absent: readonly { readonly why: string; readonly events: number }[]
  readonly problems: readonly { readonly place: string; readonly message: string }[]
}

/** What a pack has of one stream. The other events have their bodies. */
export interface PackedStream {
  readonly stream: string
  readonly runId: string
  readonly events: number
  readonly erased: number
  readonly withheld: number
}

interface Leaf {
  readonly place: string
  readonly index: number
  readonly hash: Uint8Array
}

interface Line {
  readonly header: Header
  readonly hash: string
  readonly index: number
  readonly position: number
  readonly body: string | null
  readonly salt: string | null
  readonly absent?: { readonly why?: unknown; readonly reason?: unknown }
  readonly previous?: string
}

const MAX_PROBLEMS = 100
const MAX_REASONS = 100

/** Verifies the files of a pack, in any order, as `api/docs/verify.py` does. */
export class PackVerifier {
  readonly #heads = new Map<string, { readonly revision: number; readonly hash: string }>()
  readonly #leaves: Leaf[] = []
  readonly #proofs = new Map<number, readonly string[]>()
  readonly #blobs = new Set<string>()
  /** Bodies that only a blob can hold, by place. */
  readonly #wanted: { readonly place: string; readonly hash: string }[] = []
  readonly #problems: { place: string; message: string }[] = []
  readonly #contents = new Map<string, { -readonly [K in keyof PackedStream]: PackedStream[K] }>()
  readonly #absent = new Map<string, number>()
  #faults = 0
  #lines = 0
  #bodies = 0
  #erased = 0
  #withheld = 0
  #last = { index: -1, position: -1 }
  /** The first event that follows no packed event of its stream or of the log. A whole pack has none. */
  #gaps: { readonly place: string; readonly message: string }[] = []

  /** A line of `events.ndjson` with its newline. */
  event(text: string): void {
    this.#lines += 1
    let place = `line ${this.#lines}`
    try {
      const line = parsed(text) as Line
      const { stream, revision } = line.header
      place = `${echo(String(stream))}@${revision}`
      this.#leaves.push({ place, index: line.index, hash: eventLeaf(line.hash) })
      this.#check(line, place)
    } catch (error) {
      this.problem(place, (error as Error).message)
    }
  }

  #check({ header, hash, index, position, body, salt, absent, previous }: Line, place: string): void {
    const { stream, revision } = header
    if (![revision, index, position].every((n) => Number.isSafeInteger(n) && n >= 0))
      throw malformed('its revision, index or position is not a number; pack it again')
    const last = this.#heads.get(stream) ?? { revision: -1, hash: GENESIS }
    this.#heads.set(stream, { revision, hash })
    this.#count(header, body === null ? absent : undefined)
    if (revision <= last.revision) throw malformed('the event before it is missing or comes later')
    if (revision !== last.revision + 1) this.#gaps.push({ place, message: 'the event before it is missing' })
    const before = revision === last.revision + 1 ? last.hash : previous
    if (typeof before !== 'string' || !/^[0-9a-f]{64}$/.test(before)) throw malformed('the hash before it is missing')
    if (hashAfter(before, canonicalText(header)) !== hash) throw malformed('its hash does not follow from it')
    if (body !== null || salt !== null) {
      const stored = Buffer.concat([fromBase64(salt ?? ''), fromBase64(body ?? '')])
      // A border elsewhere between salt and body would show a part of the body as the whole.
      const isWhole = fromBase64(salt ?? '').length === SALT_BYTES && stored.length === SALT_BYTES + header.body.size
      if (body !== null && !(isWhole && bodyHash(stored) === header.body.hash))
        throw malformed('its body is not the sealed one')
    }
    if (body !== null) this.#bodies += 1
    else if (absent?.why === 'erased') this.#erased += 1
    else if (absent?.why === 'withheld') this.#withheld += 1
    else this.#wanted.push({ place, hash: header.body.hash })
    const lastEvent = this.#last
    this.#last = { index, position }
    if (index <= lastEvent.index || position <= lastEvent.position) throw malformed('it is out of order')
    if (index !== lastEvent.index + 1) this.#gaps.push({ place, message: 'an event of the log before it is missing' })
  }

  #count({ stream, runId }: Header, absent: Line['absent']): void {
    const none = { stream: echo(String(stream)), runId: echo(String(runId)), events: 0, erased: 0, withheld: 0 }
    const counts = this.#contents.get(stream) ?? none
    this.#contents.set(stream, counts)
    counts.events += 1
    if (absent?.why !== 'erased' && absent?.why !== 'withheld') return
    counts[absent.why] += 1
    const why = absent.why === 'erased' ? `erased: ${echo(String(absent.reason))}` : absent.why
    if (this.#absent.has(why) || this.#absent.size < MAX_REASONS)
      this.#absent.set(why, (this.#absent.get(why) ?? 0) + 1)
  }

  /** A line of `proofs.ndjson` with its newline. */
  proof(text: string): void {
    try {
      const { index, proof } = parsed(text) as { index: number; proof: readonly string[] }
      if (!Number.isSafeInteger(index) || !Array.isArray(proof)) throw malformed('not the proof of an event')
      this.#proofs.set(index, proof)
    } catch (error) {
      this.problem('proofs.ndjson', (error as Error).message)
    }
  }

  /** A file of `blobs/`. `hash`: of its bytes. */
  blob(name: string, hash: string): void {
    this.#blobs.add(hash)
    if (name !== BLOBS + hash) this.problem(echo(name), 'it is altered')
  }

  /** A fault of the pack itself. */
  problem(place: string, message: string): void {
    this.#faults += 1
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push({ place, message })
  }

  /**
   * The result after the last line. `policy`: the trusted keys, from the pack or from elsewhere. `isWhole`: the pack has
   * no `proofs.ndjson`, so it must have every event of the log.
   */
  result(note: string | null, policy: string | null, isWhole: boolean): VerifiedPack {
    for (const { place, hash } of this.#wanted) {
      if (this.#blobs.has(hash)) this.#bodies += 1
      else this.problem(place, 'its body is missing without a reason')
    }
    if (isWhole) for (const { place, message } of this.#gaps) this.problem(place, message)
    const head = this.#opened(note, policy)
    if (head !== null && isWhole) {
      const { edge } = appendLeaves(
        EMPTY_EDGE,
        this.#leaves.map(({ hash }) => hash),
      )
      if (edge.size !== head.size || !equalBytes(edgeRoot(edge), head.root))
        this.problem('checkpoint', 'it is of other events than those of the pack')
    } else if (head !== null) {
      for (const { place, index, hash } of this.#leaves)
        if (!this.#isProved(index, head, hash)) this.problem(place, 'its proof does not place it in the log')
    }
    return {
      ...{ ok: this.#faults === 0, events: this.#leaves.length, streams: this.#heads.size, bodies: this.#bodies },
      ...{ erased: this.#erased, withheld: this.#withheld },
      ...{ size: head?.size ?? null, origin: head?.origin ?? null },
      ...{ vkeys: head?.vkeys ?? [], witnesses: head?.witnesses ?? [] },
      contents: [...this.#contents.values()],
      absent: [...this.#absent].map(([why, events]) => ({ why, events })),
      problems: this.#problems,
    }
  }

  #isProved(index: number, { size, root }: { size: number; root: Uint8Array }, leaf: Uint8Array): boolean {
    try {
      return verifyInclusion(index, size, leaf, (this.#proofs.get(index) ?? []).map(fromBase64), root)
    } catch {
      return false
    }
  }

  #opened(note: string | null, policy: string | null) {
    try {
      if (note === null || policy === null)
        throw malformed(`the pack has no ${note === null ? 'checkpoint' : 'policy.txt'}; get the whole pack again`)
      const trusted = parsePolicy(policy)
      const { logs, witnesses } = trusted
      const opened = openCheckpoint(
        note,
        logs.map(({ key }) => key),
        witnesses.map(({ key }) => key),
      )
      if (!hasQuorum(trusted, opened.signatures))
        throw new ProofError('SIGNATURE_MISSING', 'fewer witnesses cosigned it than the policy requires')
      const signed = ({ key }: PolicyLog) => opened.signatures.some((one) => one.key === key)
      return {
        ...opened,
        vkeys: logs.filter(signed).map(({ key }) => formatVkey(key)),
        witnesses: witnesses.filter(signed).map(({ name }) => name),
      }
    } catch (error) {
      this.problem('checkpoint', (error as Error).message)
      return null
    }
  }
}

/** Parses a line. Throws unless the line is exactly the canonical text of its value. */
function parsed(text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (`${canonicalText(value)}\n` !== text) throw malformed('it is not a line of canonical JSON')
  return value
}

/** The policy of keys that somebody trusts, without witnesses. */
export const policyOfKeys = (vkeys: readonly string[]): string =>
  `${vkeys.map((vkey) => `log ${vkey}\n`).join('')}quorum none\n`
