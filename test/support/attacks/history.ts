import { MemoryLog } from '../../../adapters/memory/log.ts'
import { acceptLogLoss, readAcceptedLosses, readLossEvents } from '../../../domain/agent/runtime/losses.ts'
import { AGGREGATES } from '../../../domain/kinds.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import type { LogLoss } from '../../../domain/log/loss/loss.ts'
import { parseCheckpoint } from '../../../domain/log/proof/checkpoint.ts'
import { base64 } from '../../../domain/log/proof/encoding.ts'
import { type NoteSigner, splitNote } from '../../../domain/log/proof/note.ts'
import { memory } from '../../../domain/memory/aggregate.ts'
import type { EventLog } from '../../../domain/ports/index.ts'
import type { SignedHead, TreeGrowth } from '../../../domain/ports/proof.ts'
import { PROOF_ID, proof } from '../../../domain/proof/kind.ts'
import { keptLeaves } from '../../../domain/proof/runtime/kept-leaves.ts'
import { LogSigner } from '../../../domain/proof/runtime/log-signer.ts'
import { type VerifiedHeads, verifyHeads } from '../../../domain/proof/runtime/verify-heads.ts'
import { context } from '../../../domain/store/aggregate.ts'
import { Streams } from '../../../domain/stream/runtime/streams.ts'
import { USER as BY, type Harness, harness, MemoryBlobs, testSpec } from '../harness.ts'
import { BEFORE } from '../log/sealing.ts'
import { standing } from '../time/standing-clock.ts'
import { copyOf, memoryKeys, memoryTree, noTree, type TreeContent } from './memory-tree.ts'

const ORIGIN = 'example.org/log'
const identity = { bytes: (length: number) => new Uint8Array(length).fill(7) }

/** A signature that was made: its note, and the chain hashes that it covered at that moment. */
export interface Made {
  readonly note: string
  readonly covers: readonly string[]
}

/** The process ends at the `at`-th call of a port: before the call has an effect, or after. */
export interface Kill {
  readonly at: number
  readonly effect: 'before' | 'after'
}

interface Backup {
  readonly events: readonly RecordedEvent[]
  readonly tree: TreeContent
}

interface AcceptedPart {
  readonly kept?: number | undefined
  readonly gaps?: LogLoss['gaps']
  readonly place?: (position: number) => number
}

const ownPosition = (position: number): number => position

/** One log in memory over many processes, whose heads are signed. */
export class History {
  log = new MemoryLog({ random: identity, clock: BEFORE })
  tree = noTree()
  keys: NoteSigner[] = []
  /** Every signature that a process has made, also those that it did not live to store. */
  readonly made: Made[] = []
  /** The heads that an anchor outside keeps. */
  readonly held: string[] = []
  readonly warnings: string[] = []
  /** The number of port calls of the last process. */
  calls = 0
  readonly #blobs = new MemoryBlobs()
  #drawn = 0
  readonly #random = {
    bytes: (length: number) => Uint8Array.from({ length }, (_, at) => (++this.#drawn * 31 + at * 7) % 256),
  }
  readonly #clock = standing(Date.UTC(2026, 5, 1))
  readonly #sets = new Map<string, number[]>()
  #runs: string[] = []
  readonly #bodies = new Map<string, Uint8Array>()

  events = async (): Promise<RecordedEvent[]> => (await Array.fromAsync(this.log.readAll(null))).flat()
  state = () => this.streams.state(proof, PROOF_ID)

  get streams(): Streams {
    return this.#streams(this.#keeping((stream, expected, batch) => this.log.append(stream, expected, batch)))
  }

  /** The log, with another way to append. Remembers the bodies, so that a backup of before an erasure has them. */
  #keeping(append: EventLog['append']): EventLog {
    const { log } = this
    return Object.assign(Object.create(log) as MemoryLog, {
      append: (...given: Parameters<EventLog['append']>) => {
        for (const { header, body } of given[2]) if (body !== null) this.#bodies.set(header.body.hash, body)
        return append(...given)
      },
      head: log.head.bind(log),
      read: log.read.bind(log),
      floor: log.floor.bind(log),
    })
  }

  #streams(log: EventLog): Streams {
    const ports = { random: this.#random, clock: this.#clock, hide: async <T>(value: T) => value }
    return new Streams({ log, blobs: this.#blobs, ...ports }, AGGREGATES)
  }

  /** A process that signs. `kill`: it ends at that call of a port, and does nothing from then on. */
  process(kill: Kill | null = null) {
    const { log, tree, keys } = this
    let calls = 0
    let dead = false
    const guarded = async <T>(act: () => Promise<T>): Promise<T> => {
      if (dead) throw new Error('killed')
      calls += 1
      this.calls = calls
      dead = calls === kill?.at
      if (dead && kill?.effect === 'before') throw new Error('killed')
      const result = await act()
      if (dead) throw new Error('killed')
      return result
    }
    const all = <P extends object>(port: P, names: readonly (keyof P)[]): P =>
      Object.assign(
        Object.create(port),
        Object.fromEntries(
          names.map((name) => [
            name,
            (...given: unknown[]) => guarded(() => (port[name] as (...all: unknown[]) => Promise<unknown>)(...given)),
          ]),
        ),
      )
    const plain = memoryTree(tree)
    const store = all(
      {
        ...plain,
        grow: async (growth: TreeGrowth) => {
          const hashes = (await Array.fromAsync(log.readAll(null))).flat().map(({ hash }) => hash)
          if (growth.head !== null)
            this.made.push({ note: growth.head.note, covers: hashes.slice(0, growth.head.size) })
          return plain.grow(growth)
        },
      },
      ['load', 'grow', 'lastHead', 'clear'],
    )
    const appending = this.#keeping((stream, expected, batch) => guarded(() => log.append(stream, expected, batch)))
    const signer = LogSigner.start({
      ...{ log, store, keys: all(memoryKeys(keys), ['read', 'add']), streams: this.#streams(appending) },
      ...{ clock: this.#clock, random: this.#random, origin: ORIGIN },
      acceptedLosses: () => guarded(async () => (await readAcceptedLosses(log)).length),
      warn: (text) => void this.warnings.push(text),
    })
    return {
      signer,
      get dead() {
        return dead
      },
    }
  }

  /** Sets a variable of a store, in a new event. */
  async set(store: string): Promise<void> {
    const commandId = `set:${++this.#drawn}`
    const command = { kind: 'set', key: `k${this.#drawn % 3}`, value: `value ${this.#drawn}` } as const
    const { revision } = await this.streams.submit(context, store, command, { by: BY, commandId })
    this.#sets.set(store, [...(this.#sets.get(store) ?? []), revision])
  }

  /** A runtime over the log as it is now. */
  #runtime(): Harness {
    const log = this.#keeping((stream, expected, batch) => this.log.append(stream, expected, batch))
    const ports = { random: this.#random, clock: this.#clock }
    return harness(() => new Error('no run is driven here'), { log, blobs: this.#blobs, ports })
  }

  /** Starts a run, or forks one at an event of its history. */
  async startOrFork(nth: number, revision: number): Promise<void> {
    const source = this.#runs[nth % (this.#runs.length + 1)]
    const run = this.#runtime()
    if (source === undefined) this.#runs.push(await run.start(testSpec()))
    else {
      const last = (await this.log.head(`agent-${source}`))!.revision
      const runId = run.runtime.newRunId()
      await run.runtime.fork(source, { revision: Math.min(revision, last) }, { runId }, { by: BY })
      this.#runs.push(runId)
    }
  }

  async remember(): Promise<void> {
    const id = `global-f${++this.#drawn}`
    const by = { by: BY, commandId: `remember:${id}` }
    await this.streams.submit(
      memory,
      id,
      { kind: 'remember', scope: 'global', place: 'global', text: `fact ${id}` },
      by,
    )
    if (this.#drawn % 2 === 0) {
      await this.streams.submit(memory, id, { kind: 'forget', reason: null }, { by: BY, commandId: `forget:${id}` })
      await this.erase(`memory-${id}`)
    }
  }

  async erase(stream: string, revision?: number): Promise<void> {
    const which = revision === undefined ? ({ all: true } as const) : { revision }
    const asker = { by: BY, commandId: `erase:${++this.#drawn}` }
    await this.streams.erase(stream, which, { reason: 'asked for' }, asker)
  }

  /** Erases one of the values of a store, if there is one. */
  async eraseIn(store: string, nth: number): Promise<void> {
    const revisions = this.#sets.get(store) ?? []
    if (revisions.length > 0) await this.erase(`context-${store}`, revisions[nth % revisions.length]!)
  }

  anchor({ note }: SignedHead): void {
    if (!this.held.includes(note)) this.held.push(note)
  }

  backup = async (): Promise<Backup> => ({ events: await this.events(), tree: copyOf(this.tree) })

  /** Puts back the log of a backup. */
  async restoreLog({ events }: Pick<Backup, 'events'>): Promise<void> {
    this.log = new MemoryLog({ random: identity, clock: BEFORE })
    for (const { header, hash, id, body } of events.slice(1)) {
      const stored = this.#bodies.get(header.body.hash) ?? body
      await this.log.append(header.stream, header.revision - 1, [{ header, hash, id, body: stored }])
    }
    const left = new Map<string, number>()
    for (const { header } of events) left.set(header.stream, header.revision)
    this.#runs = this.#runs.filter((runId) => left.has(`agent-${runId}`))
    for (const [store, revisions] of this.#sets)
      this.#sets.set(
        store,
        revisions.filter((one) => one <= (left.get(`context-${store}`) ?? -1)),
      )
  }

  restoreTree({ tree }: Pick<Backup, 'tree'>): void {
    this.tree = copyOf(tree)
  }

  /**
   * A person accepts that the log has lost its end. `kept`: how much of the signed tree is left; absent: not known.
   * `place`: see {@link verify}.
   */
  async accept({ kept, gaps = [], place = ownPosition }: AcceptedPart = {}): Promise<void> {
    const id = `loss-${++this.#drawn}`
    const end = place((await this.log.headCursor()).position)
    const loss = { id, end, mark: null, tables: null, vanished: [], gaps, ...(kept !== undefined && { kept }) }
    await acceptLogLoss({ log: this.log, clock: this.#clock, random: this.#random }, loss, BY)
  }

  /** See `keptLeaves`. */
  keptLeaves = () => keptLeaves(this.log, memoryTree(this.tree))

  /** `place`: the position of each event, if the positions have gaps as those of an event store. */
  async verify(place = ownPosition): Promise<VerifiedHeads> {
    const acceptedLosses = await readLossEvents(this.log)
    const dense = memoryTree(this.tree)
    const positions = async (...which: [number, number]) => (await dense.positions(...which)).map(place)
    const placed = (page: readonly RecordedEvent[]) => page.map((one) => ({ ...one, position: place(one.position) }))
    const { log } = this
    const sparse: EventLog = Object.assign(Object.create(log), {
      read: log.read.bind(log),
      async *readAll(...asked: Parameters<EventLog['readAll']>) {
        for await (const page of log.readAll(...asked)) yield placed(page)
      },
    })
    const outside = this.held.map((checkpoint) => ({ anchor: 'outside', checkpoint }))
    const stores = { log: sparse, blobs: this.#blobs, store: { ...dense, positions }, acceptedLosses }
    return verifyHeads(stores, outside)
  }

  /** The problems of all streams. */
  async problems(): Promise<string[]> {
    const streams = new Set((await this.events()).map(({ header }) => header.stream))
    const found = await Promise.all(
      [...streams].map(async (stream) =>
        (await this.streams.verify(stream)).problems.map(
          ({ revision, message }) => `${stream}@${revision}: ${message}`,
        ),
      ),
    )
    return found.flat()
  }

  /** Pairs of signatures of one origin that contradict each other. */
  contradictions(): string[] {
    const heads = this.made.map(({ note, covers }) => {
      const { origin, size, root } = parseCheckpoint(splitNote(note).text)
      return { origin, size, root: base64(root), covers }
    })
    return heads.flatMap((a, at) =>
      heads.slice(at + 1).flatMap((b) => {
        const size = Math.min(a.size, b.size)
        if (a.origin !== b.origin || (a.size === b.size && a.root === b.root)) return []
        const same = a.size !== b.size && a.covers.length === a.size && b.covers.length === b.size
        if (same && a.covers.slice(0, size).every((hash, n) => hash === b.covers[n])) return []
        return [`${a.origin}: ${a.size} ${a.root} and ${b.size} ${b.root}`]
      }),
    )
  }
}
