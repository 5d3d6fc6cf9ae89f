import { ERASED_FACT } from '../../../log/erased.ts'
import { agentStream } from '../../../log/ids.ts'
import type { EventLog } from '../../../ports/index.ts'
import type { PointDetails } from '../../state/point-details.ts'
import type { Transcript } from '../../state/transcript.ts'

/** The most bytes of event bodies behind all cached points. */
const KEPT_BYTES = 32 * 1024 * 1024

/** A cached point of an agent's own stream, with the data read up to it. Immutable. */
export interface KeptPoint {
  readonly agentId: string
  readonly revision: number
  readonly hash: string
  readonly transcript: Transcript
  readonly details: PointDetails
  /** The source streams, each with the revision up to which it was checked for later erasures. */
  readonly streams: Map<string, number>
  /** The position of the log's last event before the streams were read. */
  readonly position: number
}

/**
 * Caches the messages of recently requested points, so that a person who steps through a run reads only the events
 * between two points. An erasure by any process drops the points that may contain an erased body.
 */
export class KeptPoints {
  readonly #log: EventLog
  readonly #points = new Set<KeptPoint>()

  constructor(log: EventLog) {
    this.#log = log
  }

  /** The latest cached point of an agent at or before a revision of its own stream; null: none. */
  async nearest(agentId: string, revision: number): Promise<KeptPoint | null> {
    let nearest: KeptPoint | null = null
    for (const point of this.#points)
      if (point.agentId === agentId && point.revision <= revision && point.revision > (nearest?.revision ?? -1))
        nearest = point
    if (nearest === null || !(await this.#isWhole(nearest))) return null
    // Re-inserts the point, so that the set is in the order of last use.
    if (this.#points.delete(nearest)) this.#points.add(nearest)
    return nearest
  }

  keep(point: KeptPoint): void {
    for (const other of this.#points)
      if (other.agentId === point.agentId && other.revision === point.revision) this.#points.delete(other)
    this.#points.add(point)
    let bytes = 0
    for (const { transcript } of this.#points) bytes += transcript.bytes
    for (const oldest of this.#points) {
      if (bytes <= KEPT_BYTES) return
      bytes -= oldest.transcript.bytes
      this.#points.delete(oldest)
    }
  }

  forgetAll(): void {
    this.#points.clear()
  }

  /** Checks each later event only once, because a long run may continue far beyond the point. */
  async #isWhole(point: KeptPoint): Promise<boolean> {
    let whole = (await this.#hashAt(point)) === point.hash
    for (const [stream, looked] of whole && this.#log.erases ? point.streams : []) {
      const last = (await this.#log.head(stream))?.revision ?? -1
      if (last <= looked) continue
      const later = { from: looked + 1, limit: last - looked, bodies: false, types: [ERASED_FACT] }
      for await (const page of this.#log.read(stream, later))
        if (page.some(({ header, position }) => header.type === ERASED_FACT && position > point.position)) whole = false
      point.streams.set(stream, last)
    }
    if (!whole) this.#points.delete(point)
    return whole
  }

  async #hashAt({ agentId, revision }: KeptPoint): Promise<string | null> {
    for await (const [event] of this.#log.read(agentStream(agentId), { from: revision, limit: 1, bodies: false }))
      if (event !== undefined) return event.hash
    return null
  }
}
