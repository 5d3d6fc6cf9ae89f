import type { Header } from '../envelope.ts'
import { type ErasedFact, erasedFact } from '../erased.ts'
import { echo } from '../issues.ts'
import { bodyHash, GENESIS, hashAfter, SALT_BYTES } from '../seal.ts'
import { openCheckpoint } from './checkpoint.ts'
import { equalBytes, fromBase64, hashFromBase64 } from './encoding.ts'
import { formatVkey } from './note.ts'
import { type AbsentBody, ATTACHING, VERIFIERS } from './pack.ts'
import { PartialTree } from './partial-tree.ts'
import { hasQuorum, type PolicyLog, parsePolicy } from './policy.ts'
import { malformed, ProofError } from './proof-error.ts'
import { eventLeaf } from './tree.ts'

export const BLOBS = 'blobs/'
/** The names of the files of packs. */
const IN_PACKS =
  /^(?:README\.txt|agents\.json|checkpoint|events\.ndjson|hashes\.txt|policy\.txt|story\.html|verify\.py|blobs\/[0-9a-f]{64}|tables\/[a-z_]+\.csv|answers\/(?:absent\.txt|(?:[^/]+\/)?[a-z_]+\.(?:csv|json))|requests\/(?:[^/]+\/){1,2}\d+\.json)$/

/** Files and folders for reading, whose content follows from the events. Nothing signs them. */
const COPIES: ReadonlySet<string> = new Set(['agents.json', 'answers', 'requests', 'story.html', 'tables'])

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
  /** What the pack says and cannot prove. */
  readonly unproved: readonly string[]
  readonly problems: readonly { readonly place: string; readonly message: string }[]
}

/** What a pack has of one stream. The other events have their bodies. */
export interface PackedStream {
  readonly stream: string
  readonly runId: string
  readonly events: number
  /** The revision of the last event. */
  readonly last: number
  readonly erased: number
  readonly withheld: number
}

interface Line {
  readonly header: Header
  readonly hash: string
  readonly index: number
  readonly position: number
  readonly body: string | null
  readonly salt: string | null
  readonly absent?: AbsentBody
  readonly previous?: string
}

const MAX_PROBLEMS = 100
const MAX_REASONS = 100
/** A member is missing or has another type. The texts of JavaScript's own errors differ between engines and builds. */
const NO_EVENT = 'it has not the shape of an event; pack it again'

/** Verifies the files of a pack, in any order, as `api/docs/verify.py` does. */
export class PackVerifier {
  readonly #heads = new Map<string, { readonly revision: number; readonly hash: string; readonly index: number }>()
  readonly #tree = new PartialTree()
  readonly #hashes: string[] = []
  readonly #blobs = new Set<string>()
  /** Bodies and whole results that only a blob can hold, by place. */
  readonly #wanted: { readonly place: string; readonly hash: string; readonly what: string }[] = []
  readonly #problems: { place: string; message: string }[] = []
  readonly #contents = new Map<string, { -readonly [K in keyof PackedStream]: PackedStream[K] }>()
  readonly #absent = new Map<string, number>()
  /** Bodies that events call erased, and those that erasure facts name. */
  readonly #said: string[] = []
  readonly #shown = new Set<string>()
  #isVerifierKnown = true
  readonly #foreign: string[] = []
  readonly #copies = new Set<string>()
  #faults = 0
  #lines = 0
  #bodies = 0
  #erased = 0
  #withheld = 0
  #last = { index: -1, position: -1 }
  /** The first of the adjacent events at the end so far. */
  #tail = 0

  /** A line of `events.ndjson` with its newline. */
  event(text: string): void {
    this.#lines += 1
    let place = `line ${this.#lines}`
    try {
      const line = parsed(text) as Line
      const { stream, revision } = line.header
      place = `${echo(String(stream))}@${revision}`
      this.#check(line, place)
    } catch (error) {
      this.problem(place, error instanceof ProofError ? error.message : NO_EVENT)
    }
  }

  #check({ header, hash, index, position, body, salt, absent, previous }: Line, place: string): void {
    const { stream, revision } = header
    if (![revision, index, position].every((n) => Number.isSafeInteger(n) && n >= 0))
      throw malformed('its revision, index or position is not a number; pack it again')
    const inOrder = index > this.#last.index && position > this.#last.position
    const isAdjacent = index === this.#last.index + 1
    this.#last = { index, position }
    if (!inOrder) throw malformed('it is out of order')
    if (!isAdjacent) this.#tail = index
    this.#tree.add(index, eventLeaf(hash))
    const last = this.#heads.get(stream) ?? { revision: -1, hash: GENESIS }
    this.#heads.set(stream, { revision, hash, index })
    if (absent !== undefined && !(body === null && isReason(absent)))
      throw malformed('it does not say why its body is absent')
    this.#count(header, absent)
    if (revision <= last.revision) throw malformed('the event before it is missing or comes later')
    const before = revision === last.revision + 1 ? last.hash : previous
    if (typeof before !== 'string' || !/^[0-9a-f]{64}$/.test(before)) throw malformed('the event before it is missing')
    if (hashAfter(before, JSON.stringify(header)) !== hash) throw malformed('its hash does not follow from it')
    this.#checkBody(header, body, salt, place)
    if (body !== null) this.#bodies += 1
    else if (absent?.why === 'erased') {
      this.#erased += 1
      this.#said.push(claim(stream, { revision, bodyHash: header.body.hash }, absent.reason))
    } else if (absent?.why === 'withheld') this.#withheld += 1
    else this.#wanted.push({ place, hash: header.body.hash, what: 'body' })
  }

  #checkBody(header: Header, body: string | null, salt: string | null, place: string): void {
    const { type, stream, body: sealed } = header
    if (![body, salt].every((one) => one === null || typeof one === 'string'))
      throw malformed('its body or salt is not text; pack it again')
    const before = fromBase64(salt ?? '')
    if (body === null) return
    const bytes = Buffer.from(fromBase64(body))
    // A border elsewhere between salt and body would show a part of the body as the whole.
    const isWhole = before.length === SALT_BYTES && bytes.length === sealed.size
    const stored = Buffer.concat([before, bytes])
    if (!isWhole || bodyHash(stored) !== sealed.hash) throw malformed('its body is not the sealed one')
    const fact = erasedFact({ header, body: stored })
    for (const one of fact?.bodies ?? []) this.#shown.add(claim(stream, one, fact!.reason))
    if (!ATTACHING.has(type)) return
    const { attachment } = JSON.parse(utf8.decode(bytes)) as { attachment?: { hash: string } }
    if (attachment !== undefined) this.#wanted.push({ place, hash: attachment.hash, what: 'whole result' })
  }

  /** A line of `hashes.txt` with its newline. */
  hash(text: string): void {
    this.#hashes.push(text)
  }

  #count({ stream, runId, revision }: Header, absent: AbsentBody | undefined): void {
    const names = { stream: echo(String(stream)), runId: echo(String(runId)) }
    const none = { ...names, events: 0, last: 0, erased: 0, withheld: 0 }
    const counts = this.#contents.get(stream) ?? none
    this.#contents.set(stream, counts)
    counts.events += 1
    counts.last = revision
    if (absent === undefined) return
    counts[absent.why] += 1
    const why = absent.why === 'erased' ? `erased: ${echo(absent.reason)}` : absent.why
    if (this.#absent.has(why) || this.#absent.size < MAX_REASONS)
      this.#absent.set(why, (this.#absent.get(why) ?? 0) + 1)
  }

  /** A file of `blobs/`. `hash`: of its bytes. */
  blob(name: string, hash: string): void {
    this.#blobs.add(hash)
    if (name !== BLOBS + hash) this.problem(echo(name), 'it is altered')
  }

  /** The file `verify.py`. `hash`: of its bytes. */
  program(hash: string): void {
    this.#isVerifierKnown = VERIFIERS.includes(hash)
  }

  /** The name of a file, as it is in the pack. */
  file(name: string): void {
    const [first] = name.split('/') as [string]
    if (COPIES.has(first)) this.#copies.add(first)
    if (!IN_PACKS.test(name) && this.#foreign.length < MAX_PROBLEMS) this.#foreign.push(name)
  }

  /** A fault of the pack itself. */
  problem(place: string, message: string): void {
    this.#faults += 1
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push({ place, message })
  }

  /** The result after the last line. `policy`: the trusted keys, from the pack or from elsewhere. */
  result(note: string | null, policy: string | null): VerifiedPack {
    for (const { place, hash, what } of this.#wanted) {
      if (!this.#blobs.has(hash)) this.problem(place, `its ${what} is missing without a reason`)
      else if (what === 'body') this.#bodies += 1
    }
    const head = this.#opened(note, policy)
    if (head !== null && !this.#isTreeOf(head))
      this.problem('checkpoint', 'it is of other events than those of the pack')
    return {
      ...{ ok: this.#faults === 0, events: this.#lines, streams: this.#heads.size, bodies: this.#bodies },
      ...{ erased: this.#erased, withheld: this.#withheld },
      ...{ size: head?.size ?? null, origin: head?.origin ?? null },
      ...{ vkeys: head?.vkeys ?? [], witnesses: head?.witnesses ?? [] },
      contents: [...this.#contents.values()],
      absent: [...this.#absent].map(([why, events]) => ({ why, events })),
      unproved: this.#unproved(head?.size ?? null),
      problems: this.#problems,
    }
  }

  /** `verify.py` says the first three in the same words. */
  #unproved(size: number | null): string[] {
    const unshown = this.#said.filter((one) => !this.#shown.has(one)).length
    const tail = this.#last.index + 1 === size ? this.#tail : size
    const open = tail === null ? 0 : this.#heads.values().reduce((sum, { index }) => sum + (index < tail ? 1 : 0), 0)
    return [
      ...(unshown > 0 ? [`bodies only said to be erased, without an erasure fact in the pack: ${unshown}`] : []),
      ...(open > 0
        ? [`streams that may go on after their last event in the pack: ${open} of ${this.#heads.size}`]
        : []),
      ...(this.#copies.size > 0
        ? [`files beside the events, which nothing signs: ${[...this.#copies].sort().join(', ')}`]
        : []),
      ...(this.#isVerifierKnown
        ? []
        : ['verify.py of the pack is none that this keepup knows: do not run it, take it from elsewhere']),
      // Python loads modules from the folder of a script, so a file such as json.py would run.
      ...(this.#foreign.length === 0
        ? []
        : [`files that no pack of keepup has: ${this.#foreign.join(', ')}; do not run anything in the pack's folder`]),
    ]
  }

  #isTreeOf({ size, root }: { size: number; root: Uint8Array }): boolean {
    try {
      const found = this.#tree.root(size, this.#hashes.values().map(hashOfLine))
      return found !== null && equalBytes(found, root)
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

/** Whether a line says in the right form why its body is absent. */
function isReason(absent: AbsentBody): boolean {
  const names = Object.keys(absent).join()
  return absent.why === 'erased'
    ? names === 'reason,why' && typeof absent.reason === 'string'
    : names === 'why' && absent.why === 'withheld'
}

/** An erased body as text. */
const claim = (stream: string, { revision, bodyHash }: ErasedFact['bodies'][number], reason: string): string =>
  JSON.stringify([stream, revision, bodyHash, reason])

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Parses a line. Throws unless the line is exactly the canonical text (RFC 8785) of its value. */
function parsed(text: string): unknown {
  const value = jsonOf(text)
  // `JSON.stringify` writes canonical text when all names are sorted, many times faster than sorting them does. Only
  // lone surrogates have no canonical text.
  if (!isSorted(value) || `${JSON.stringify(value)}\n` !== text || /\\ud[89a-f]/.test(text))
    throw malformed('it is not a line of canonical JSON')
  return value
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether the names in all objects of a JSON value are sorted. */
function isSorted(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  let last = ''
  for (const [name, member] of Object.entries(value)) {
    if (!Array.isArray(value) && name < last) return false
    if (!isSorted(member)) return false
    last = name
  }
  return true
}

function hashOfLine(line: string): Uint8Array {
  if (!line.endsWith('\n')) throw malformed('the file ends within a line')
  return hashFromBase64(line.slice(0, -1))
}

/** The policy of keys that somebody trusts, without witnesses. */
export const policyOfKeys = (vkeys: readonly string[]): string =>
  `${vkeys.map((vkey) => `log ${vkey}\n`).join('')}quorum none\n`
