import type { Header } from '../../../log/envelope.ts'
import type { EventLog } from '../../../ports/index.ts'
import { Mutex } from '../../../stream/runtime/concurrency.ts'

/** The most outlines that a process caches. An outline needs about 50 bytes per event. */
const MOST = 8

/**
 * An agent's own events without bodies, by revision and in columns: enough to draw a long history and to find the
 * events about a point. Grows with the stream.
 */
export class OutlineColumns {
  readonly types: string[] = []
  /** 0 outside of turns. */
  readonly turns: number[] = []
  /** Ms since the epoch. */
  readonly times: number[] = []
  /** The index of the tool call within its turn; -1: the event is not about a call. */
  readonly calls: number[] = []
  /** Sizes of the bodies, in bytes. */
  readonly sizes: number[] = []
  readonly #extending = new Mutex()

  get length(): number {
    return this.types.length
  }

  /** Reads the events appended since the last call. Rejects if the stream cannot be read. */
  extend(log: EventLog, stream: string): Promise<this> {
    return this.#extending.run(async () => {
      for await (const page of log.read(stream, { from: this.length, bodies: false }))
        for (const { header } of page) this.#push(header)
      return this
    })
  }

  /** The last revision up to `to` (inclusive) with one of these types; -1: none. */
  lastOf(types: readonly string[], to: number): number {
    for (let at = Math.min(to, this.length - 1); at >= 0; at--) if (types.includes(this.types[at]!)) return at
    return -1
  }

  #push({ type, turn, timestamp, toolCallId, body }: Header): void {
    this.types.push(type)
    this.turns.push(turn)
    this.times.push(Date.parse(timestamp))
    this.calls.push(Number(/\.c(\d+)$/.exec(toolCallId ?? '')?.[1] ?? -1))
    this.sizes.push(body.size)
  }
}

const known = new WeakMap<EventLog, Map<string, OutlineColumns>>()

/** The outline of an agent's stream up to its head; empty if there is no such stream. Cached and only extended. */
export async function outlineOf(log: EventLog, stream: string): Promise<OutlineColumns> {
  const outlines = known.get(log) ?? new Map<string, OutlineColumns>()
  known.set(log, outlines)
  const outline = outlines.get(stream) ?? new OutlineColumns()
  outlines.delete(stream)
  outlines.set(stream, outline)
  if (outlines.size > MOST) outlines.delete(outlines.keys().next().value as string)
  return outline.extend(log, stream)
}
