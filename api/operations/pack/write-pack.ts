import { z } from 'zod'
import { USES_ID } from '../../../domain/access/kind.ts'
import { annotationStream } from '../../../domain/annotation/limits.ts'
import { AGGREGATES } from '../../../domain/kinds.ts'
import type { Header, RecordedEvent } from '../../../domain/log/envelope.ts'
import { ERASED_FACT, erasedFact } from '../../../domain/log/erased.ts'
import { idOf, kindOf, ownerOf } from '../../../domain/log/owner.ts'
import { type AbsentBody, packedEventLine, packedHashLine } from '../../../domain/log/proof/pack.ts'
import { GENESIS, SALT_BYTES, unsalted } from '../../../domain/log/seal.ts'
import type { SignedHead } from '../../../domain/ports/proof.ts'
import { PROOF_ID, PROOF_STREAM, proof } from '../../../domain/proof/kind.ts'
import { blobParts } from '../../../domain/stream/runtime/attachments.ts'
import { streamOfAgent } from '../../../domain/tree/runtime/stream-of-agent.ts'
import { packedTables, rowsOfTable } from '../../../projections/engine/queries/run-rows.ts'
import { storedBytes } from '../events/body.ts'
import { EventViews } from '../events/view.ts'
import { Problem } from '../problem.ts'
import { type CosignedHead, headFor, packPolicy } from '../proof/cosigned.ts'
import { currentHead, treeOf } from '../proof/heads.ts'
import { agentsOf } from '../runs/agents-of.ts'
import { Id } from '../schemas.ts'
import type { Services } from '../services.ts'
import { csvOf } from '../sql/formats.ts'
import { wireView } from '../window/sent-requests.ts'
import { type PackedEvents, writeAnswers } from './answers.ts'
import { mergedStreams } from './merged.ts'
import { MissingHashes } from './missing-hashes.ts'
import { Spool, type SpoolFile } from './spool.ts'
import { STORY_END, storyEvent, storyFacts, storyHeading, storyStart } from './story.ts'
import { verifier } from './verifier.ts'

const Time = z.iso.datetime({ precision: 3 })

/** The choice of events for a pack. */
export const PackChoice = z.strictObject({
  runs: z
    .array(Id)
    .prefault([])
    .meta({ description: 'Runs, each with all its agents, tags and notes; empty: everything that the log holds' }),
  since: Time.optional().meta({ description: 'Only events from this time on' }),
  until: Time.optional().meta({ description: 'Only events before this time' }),
  bodies: z.boolean().prefault(true).meta({ description: 'false: without the bodies of events' }),
})
export type PackChoice = z.output<typeof PackChoice>

/** The streams to which anchoring a log and packing it add events. */
const ABOUT_PACKS: ReadonlySet<string> = new Set([PROOF_STREAM, `access-${USES_ID}`])

const README = `This is a pack of keepup: sealed events of AI agents, with the proof that a log holds them.
Check it with Python alone:   mkdir pack && tar -xf PACK -C pack && python3 -I verify.py pack
Check it with keepup:         keepup pack --check PACK

Whoever forges a pack can also forge the verify.py in it. Take verify.py from elsewhere ("keepup pack --verifier FILE"
writes it). Run nothing inside the folder of a pack: Python would load other files of the pack too.
The keys in policy.txt come with the pack, so they prove only that its parts belong together. Compare them with keys
that you got in another way:  python3 -I verify.py pack MY-POLICY   or   keepup pack --check PACK --vkey KEY

events.ndjson    a sealed event a line: canonical header, hash, index in the log, salt and body in base64
hashes.txt       hashes of the tree (RFC 6962) between the events; absent: the pack holds the whole log
checkpoint       the signed head of the log (c2sp.org/tlog-checkpoint); policy.txt has the keys (c2sp.org/tlog-policy)
blobs/           large bodies and results; the name is the SHA-256 of the content, which begins with 16 bytes of salt
agents.json      the tree of agents; tables/ rows about the runs; requests/ what the models were asked, word by word
answers/         answers of frequent questions as JSON, and as CSV where no row is missing; the column "event" names the event
                 that is the evidence, and rows with evidence outside the pack are left out. Other columns, and sums, show the
                 tables when the pack was written. absent.txt names the questions without an answer, and why
story.html       the runs as a document for people

agents.json, tables, requests, answers and story.html follow from the events; no signature covers them.
A body that is absent has a member "absent" that says why: erased, with the reason, or withheld. Both verifiers say
what a pack cannot prove: an erasure without its fact, and that a stream ends where the pack ends.
`

/**
 * A pack as a tar. The head is signed before the first event is read. Memory does not grow with the runs. Rejects with
 * `NOT_SIGNED`, `NOT_FOUND`.
 */
export async function* writePack(s: Services, asked: PackChoice): AsyncGenerator<Uint8Array> {
  const spool = new Spool()
  try {
    const head = await new PackWriter(s, asked, spool).write()
    yield* spool.tar(Math.floor(head.at / 1000))
  } finally {
    await spool.remove()
  }
}

class PackWriter {
  readonly #s: Services
  readonly #asked: PackChoice
  readonly #spool: Spool
  /** The number of events that the head covers. */
  #size = 0
  #hashFile: Promise<SpoolFile> | null = null
  /** The first and the last packed revision of each stream. Times never decrease, so the pack has all between. */
  readonly #packed = new Map<string, { readonly first: number; last: number }>()
  readonly #reasons = new Map<string, Promise<ReadonlyMap<number, string>>>()

  constructor(s: Services, asked: PackChoice, spool: Spool) {
    this.#s = s
    this.#asked = asked
    this.#spool = spool
  }

  async write(): Promise<SignedHead> {
    const spool = this.#spool
    const current = await currentHead(this.#s)
    const agents = new Map<string, readonly string[]>()
    for (const run of this.#asked.runs) agents.set(run, await agentsOf(this.#s, run))
    const streams = await this.#streams([...agents.values()].flat())
    const head = await headFor(this.#s, current, (one) => this.#isCovered(one, current.size, new Set(streams)))
    this.#size = head.size
    await spool.put('README.txt', README)
    await spool.put('verify.py', verifier())
    await spool.put('checkpoint', head.note)
    await spool.put('policy.txt', packPolicy(await this.#s.streams.state(proof, PROOF_ID)))
    await this.#events(streams)
    await this.#agents()
    await this.#tables()
    if (this.#asked.bodies) {
      await this.#requests(agents)
      for (const run of agents.size === 0 ? [null] : agents.keys())
        await writeAnswers(this.#s, spool, this.#packedEvents(), run)
    }
    await this.#story(agents)
    return head
  }

  /**
   * Whether a head covers every event for the pack that the head of `size` events covers. In a pack of the whole log,
   * events about signatures and about uses of access may follow the head: the request for the pack records such events.
   */
  async #isCovered(head: CosignedHead, size: number, streams: ReadonlySet<string>): Promise<boolean> {
    const { log } = this.#s
    const isWhole = this.#asked.runs.length === 0
    for await (const page of log.readAll(head.after, { bodies: false, everyKind: true }))
      for (const { header, position } of page) {
        const isOurs = isWhole ? !ABOUT_PACKS.has(header.stream) : streams.has(header.stream)
        if (!isOurs || !this.#isInTime(header)) continue
        const index = (await treeOf(this.#s).indexOf(position)) ?? size
        if (index >= head.size && index < size) return false
      }
    return true
  }

  #isInTime({ timestamp }: Header): boolean {
    const { since, until } = this.#asked
    return (since === undefined || timestamp >= since) && (until === undefined || timestamp < until)
  }

  async #events(streams: readonly string[]): Promise<void> {
    const { log } = this.#s
    const { runs, bodies } = this.#asked
    const store = treeOf(this.#s)
    const events = await this.#spool.file('events.ndjson')
    const missing = new MissingHashes(store, this.#size)
    const tips = new Map<string, { hash: string; packed: boolean }>()
    /** The first leaf whose hash does not follow from the pack so far. */
    let next = 0
    const skip = async (index: number) => {
      for (const hash of await missing.of([next, index])) await (await this.#hashes()).write(packedHashLine(hash))
      next = index + 1
    }
    let read = 0
    for await (const page of runs.length === 0
      ? log.readAll(null, { bodies, everyKind: true })
      : mergedStreams(log, streams, bodies)) {
      const first = read
      read += page.length
      const indexes =
        runs.length === 0
          ? page.map((_, n) => first + n)
          : await Promise.all(page.map(({ position }) => store.indexOf(position)))
      for (const [n, event] of page.entries()) {
        const index = indexes[n] ?? this.#size
        if (index >= this.#size) break
        const { stream, revision } = event.header
        const tip = tips.get(stream) ?? { hash: GENESIS, packed: revision === 0 }
        const packed = this.#isInTime(event.header)
        tips.set(stream, { hash: event.hash, packed })
        if (!packed) continue
        const known = this.#packed.get(stream)
        if (known === undefined) this.#packed.set(stream, { first: revision, last: revision })
        else known.last = revision
        if (index > next) await skip(index)
        else next = index + 1
        const body = await this.#body(event)
        await events.write(packedEventLine({ ...body, event, index, ...(!tip.packed && { previous: tip.hash }) }))
      }
    }
    await skip(this.#size)
  }

  #packedEvents(): PackedEvents {
    const { since, until } = this.#asked
    return {
      isPart: since !== undefined || until !== undefined,
      has: (event) => {
        const place = event.lastIndexOf('@')
        const known = this.#packed.get(event.slice(0, place))
        const revision = Number(event.slice(place + 1))
        return known !== undefined && known.first <= revision && revision <= known.last
      },
    }
  }

  /** The streams of the agents, and those with the tags and notes of the runs. */
  async #streams(agentIds: readonly string[]): Promise<readonly string[]> {
    const names = new Set<string>()
    for (const id of agentIds) {
      const stream = await streamOfAgent(this.#s.log, id)
      if (stream !== null) names.add(stream)
    }
    for (const run of this.#asked.runs) {
      const notes = annotationStream(run)
      if ((await this.#s.log.head(notes)) !== null) names.add(notes)
    }
    return [...names]
  }

  /** The file of missing hashes. A pack of the whole log has none. */
  #hashes(): Promise<SpoolFile> {
    this.#hashFile ??= this.#spool.file('hashes.txt')
    return this.#hashFile
  }

  /** The body of an event, in its line or in a blob, or why it is absent. */
  async #body(event: RecordedEvent): Promise<{
    readonly body: Uint8Array | null
    readonly salt: Uint8Array | null
    readonly absent?: AbsentBody
  }> {
    const { stream, revision, body } = event.header
    const gone = (absent: AbsentBody) => ({ body: null, salt: null, absent })
    if (event.erased) return gone({ why: 'erased', reason: (await this.#erasures(stream)).get(revision) ?? 'unknown' })
    if (!this.#asked.bodies) return gone({ why: 'withheld' })
    const stored = await storedBytes(event, this.#s.blobs)
    if (stored === null)
      throw new Problem('NOT_FOUND', `the body of ${stream}@${revision} is missing; "keepup verify" says more`)
    await this.#attachment(event, stored)
    if (body.place === 'inline') return { body: unsalted(stored), salt: stored.subarray(0, SALT_BYTES) }
    if (!this.#spool.has(`blobs/${body.hash}`)) await this.#spool.put(`blobs/${body.hash}`, stored)
    return { body: null, salt: null }
  }

  /** The whole result that an event names. */
  async #attachment({ header }: RecordedEvent, stored: Uint8Array): Promise<void> {
    const attachment = AGGREGATES.get(kindOf(header.stream))?.attachment?.(header, unsalted(stored))
    if (attachment === undefined) return
    const name = `blobs/${attachment.hash}`
    if (this.#spool.has(name)) return
    const file = await this.#spool.file(name)
    const size = SALT_BYTES + attachment.size
    for await (const part of blobParts(this.#s.blobs, ownerOf(header), attachment.hash, 0, size)) await file.write(part)
    await this.#spool.end(name)
  }

  /** The reasons of a stream's erasures by revision. */
  #erasures(stream: string): Promise<ReadonlyMap<number, string>> {
    const read = async () => {
      const found = new Map<number, string>()
      for await (const page of this.#s.log.read(stream, { types: [ERASED_FACT] }))
        for (const event of page) {
          const fact = erasedFact(event)
          for (const { revision } of fact?.bodies ?? []) found.set(revision, fact!.reason)
        }
      return found
    }
    const known = this.#reasons.get(stream) ?? read()
    this.#reasons.set(stream, known)
    return known
  }

  async *#runs(): AsyncGenerator<string> {
    if (this.#asked.runs.length > 0) return yield* this.#asked.runs
    for (let after: string | null = ''; after !== null; ) {
      const { value } = await this.#s.read.runs({ limit: 100, ...(after !== '' && { after }) })
      for (const { runId } of value.runs) yield runId
      after = value.next
    }
  }

  async #agents(): Promise<void> {
    const file = await this.#spool.file('agents.json')
    let separator = '[\n'
    for await (const run of this.#runs()) {
      const { value } = await this.#s.read.tree(run)
      await file.write(`${separator}${JSON.stringify({ runId: run, ...value })}`)
      separator = ',\n'
    }
    await file.write(separator === '[\n' ? '[]\n' : '\n]\n')
    await this.#spool.end('agents.json')
  }

  async #tables(): Promise<void> {
    const { runs } = this.#asked
    for (const table of packedTables()) {
      let after: readonly (string | number | null)[] | null = null
      let file: Awaited<ReturnType<Spool['file']>> | null = null
      do {
        const page = await this.#s.read.rows((db) => rowsOfTable(db, table, runs, after))
        const { columns, rows, next } = page.value
        if (rows.length > 0 && file === null) {
          file = await this.#spool.file(`tables/${table}.csv`)
          await file.write(csvOf({ columns, rows: [] }))
        }
        if (rows.length > 0) await file!.write(csvOf({ columns, rows }).replace(/^.*?\r\n/, ''))
        after = next
      } while (after !== null)
      if (file !== null) await this.#spool.end(`tables/${table}.csv`)
    }
  }

  /** The exact model requests of each turn. A request that cannot be rebuilt has the reason in its place. */
  async #requests(agents: ReadonlyMap<string, readonly string[]>): Promise<void> {
    if (this.#s.wire === null) return
    for (const [run, ids] of agents)
      for (const id of ids)
        if ((await streamOfAgent(this.#s.log, id)) === `agent-${id}`) await this.#requestsOf(run, id)
  }

  async #requestsOf(run: string, id: string): Promise<void> {
    const shown = wireView(this.#s)
    const folder = id === run ? `requests/${run}` : `requests/${run}/${id}`
    const files = new Map<number, SpoolFile>()
    const end = async (turn: number) => {
      await files.get(turn)!.write('\n]}\n')
      await this.#spool.end(`${folder}/${turn}.json`)
      files.delete(turn)
    }
    for await (const one of this.#s.runtime.allRequests(id)) {
      const { turn, attempt, revision } = one
      let file = files.get(turn)
      if (file === undefined) {
        // Turn 0 has the requests for summaries, which come between those of other turns.
        for (const open of files.keys()) if (open !== 0) await end(open)
        file = await this.#spool.file(`${folder}/${turn}.json`)
        files.set(turn, file)
        await file.write(`{"runId":"${run}","agentId":"${id}","turn":${turn},"requests":[\n`)
      } else await file.write(',\n')
      let entry: object = { attempt, revision, absent: one.fault }
      try {
        if (one.fault === null) entry = shown(one)
      } catch (error) {
        // The settings of this process have another list of models.
        entry = { attempt, revision, absent: (error as Error).message }
      }
      await file.write(JSON.stringify(entry))
    }
    for (const open of files.keys()) await end(open)
  }

  /** Writes the packed events of a stream. */
  async #storyOf(stream: string, file: SpoolFile): Promise<void> {
    const packed = this.#packed.get(stream)
    if (packed === undefined) return
    const { bodies } = this.#asked
    const views = new EventViews(this.#s.log, this.#s.blobs)
    for await (const page of this.#s.log.read(stream, {
      bodies,
      from: packed.first,
      limit: packed.last - packed.first + 1,
    }))
      for (const event of page) await file.write(storyEvent(await views.view(event), event, !bodies))
  }

  async #story(agents: ReadonlyMap<string, readonly string[]>): Promise<void> {
    const file = await this.#spool.file('story.html')
    const title = agents.size === 1 ? `Run ${[...agents.keys()][0]}` : agents.size === 0 ? 'A log of agents' : 'Runs'
    await file.write(storyStart({ title, facts: [['Events of the log when it was packed', String(this.#size)]] }))
    for await (const run of this.#runs()) {
      const found = (await this.#s.read.run(run)).value?.run
      if (found === undefined) continue
      await file.write(storyHeading(`Run ${run}`) + storyFacts(factsOf(found)))
      for (const id of agents.get(run) ?? []) {
        const stream = await streamOfAgent(this.#s.log, id)
        if (stream === null) continue
        if (id !== run) await file.write(storyHeading(`${kindOf(stream)} ${idOf(stream)}`))
        await this.#storyOf(stream, file)
      }
      const notes = annotationStream(run)
      if (agents.size === 0 || !this.#packed.has(notes)) continue
      await file.write(storyHeading('Tags and notes'))
      await this.#storyOf(notes, file)
    }
    await file.write(STORY_END)
  }
}

/** The members of a run's row that are one value. */
const factsOf = (run: object) =>
  Object.entries(run).flatMap(([name, value]) =>
    value === null || typeof value === 'object' ? [] : [[name, String(value)] as const],
  )
