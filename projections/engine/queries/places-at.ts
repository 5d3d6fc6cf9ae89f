import type { EventLog } from '../../../domain/ports/index.ts'
import type { Start } from './events.ts'

/** The last event of an agent at or before a log position. */
export interface PlaceOfAgent {
  readonly agentId: string
  readonly revision: number
  /** The highest turn of the agent's events up to this revision. */
  readonly turn: number
}

/** The places of agents at a log position, without agents born later. Rejects when a stream cannot be read. */
export async function placesAt(
  log: EventLog,
  starts: readonly Start[],
  position: number,
): Promise<readonly PlaceOfAgent[]> {
  const places = await Promise.all(starts.map((start) => placeOf(log, start, position)))
  return places.filter((place) => place !== null)
}

async function placeOf(
  log: EventLog,
  { agentId, stream, revision }: Start,
  position: number,
): Promise<PlaceOfAgent | null> {
  let place: PlaceOfAgent | null = null
  let turn = 0
  for await (const page of log.read(stream, { from: revision, bodies: false })) {
    for (const { header, position: at } of page) {
      if (at > position) return place
      turn = Math.max(turn, header.turn)
      place = { agentId, revision: header.revision, turn }
    }
  }
  return place
}
