import type { Json, JsonObject } from '../../domain/log/json.ts'
import { type Bounds, shortened } from '../operations/events/brief.ts'

/** Goals in bytes of JSON: an answer, and one entry of its list. Entries of a long list share the goal of the answer. */
const ANSWER = 16 * 1024
const ENTRY = 1_200

/** Members of events that a model has no use for: places in the log, proofs, and ids of requests. */
const ENVELOPE = new Set('id cursor version commandId correlationId causationId epoch hash'.split(' '))

/** From generous to tight: an object takes the first that makes it fit, or the last. No id is longer than 64 characters. */
const STEPS: readonly Bounds[] = [
  { text: 2_000, members: 50, depth: 12 },
  { text: 600, members: 20, depth: 8 },
  { text: 250, members: 12, depth: 6 },
  { text: 120, members: 8, depth: 4 },
  { text: 64, members: 8, depth: 2 },
  { text: 64, members: 6, depth: 1 },
]

/**
 * An answer that fits a model: events without their envelope, long texts and lists cut. Each object that was cut has the
 * member `cut`. All members of the answer and of the entries of its lists remain.
 */
export function shortAnswer(answer: JsonObject): JsonObject {
  const lists = Object.entries(answer).filter(([, value]) => isList(value))
  const rest = Object.entries(answer).filter(([, value]) => !isList(value))
  const short = lists.map(([key, value]) => {
    const entries = value as JsonObject[]
    const bytes = Math.min(ENTRY, Math.floor(ANSWER / entries.length))
    return [key, entries.map((entry) => fitting(withoutEnvelope(entry), bytes))] as const
  })
  return { ...fitting(Object.fromEntries(rest), ANSWER / 2), ...Object.fromEntries(short) }
}

const isList = (value: Json | undefined): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'object' && one !== null)

const withoutEnvelope = (entry: JsonObject): JsonObject =>
  'payload' in entry ? Object.fromEntries(Object.entries(entry).filter(([key]) => !ENVELOPE.has(key))) : entry

/** The object with its members cut until it fits. */
function fitting(value: JsonObject, bytes: number): JsonObject {
  for (const bounds of STEPS) {
    const members = Object.entries(value).map(([key, item]) => ({ key, ...shortened(item, bounds) }))
    const made = Object.fromEntries(members.map(({ key, value }) => [key, value]))
    if (members.some(({ cut }) => cut)) made.cut = true
    if (Buffer.byteLength(JSON.stringify(made)) <= bytes || bounds === STEPS.at(-1)) return made
  }
  return value
}
