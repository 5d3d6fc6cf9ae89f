import { agentStream, externalStream } from '../../../domain/log/ids.ts'
import { type FoundText, searchTexts } from '../../../projections/index.ts'
import { cursorIn, positionAfter } from '../rows.ts'
import type { Services } from '../services.ts'
import type { SearchQuery, TextMatch } from './schemas.ts'

/** The characters that a match shows on each side. */
const AROUND = 80

/**
 * Texts of events that contain a text, newest event first. A page may be empty and still have a next one, because each
 * page examines a bounded number of texts.
 */
export async function searchEvents(s: Services, { text, run, limit, after }: SearchQuery) {
  const before = await positionAfter(s.log, after)
  const { position, value } = await s.read.rows((db) => searchTexts(db, { text, runId: run, before, limit }))
  return {
    position,
    matches: value.found.flatMap((row) => matchOf(row, text) ?? []),
    next: value.next && (await cursorIn(s.log, streamOf(value.next), value.next.revision)),
  }
}

const streamOf = ({ backend, agent_id }: Pick<FoundText, 'backend' | 'agent_id'>): string =>
  backend === null ? agentStream(agent_id) : externalStream(agent_id)

/**
 * A found text as a match; null: the text does not contain the searched one. PostgreSQL also finds texts that differ in
 * the case of other letters than A to Z.
 */
export function matchOf(row: FoundText, searched: string): TextMatch | null {
  const { run_id: runId, agent_id: agentId, revision, at, kind, tool_call_id: toolCallId, text } = row
  const place = lower(text).indexOf(lower(searched))
  if (place < 0) return null
  const end = place + searched.length
  return {
    ...{ runId, agentId, revision, at, kind: kind as TextMatch['kind'], toolCallId },
    stream: streamOf(row),
    before: `${place > AROUND ? '…' : ''}${wellFormed(text.slice(Math.max(0, place - AROUND), place))}`,
    match: text.slice(place, end),
    after: `${wellFormed(text.slice(end, end + AROUND))}${text.length > end + AROUND ? '…' : ''}`,
  }
}

const lower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

/** Removes halves of surrogate pairs at the ends. */
const wellFormed = (text: string): string => text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
