import type { Json, JsonObject } from '../../../domain/log/json.ts'

// Values of the AI SDK that JSON does not have: bytes, times and URLs.

const TAGS: ReadonlySet<string> = new Set(['$bytes', '$date', '$url', '$value'])

/**
 * The value as JSON. Members that JSON drops are dropped. An object that looks like a tag is in `$value`. Throws
 * RangeError for a value that contains itself.
 */
export function toTagged(value: unknown): Json {
  if (value instanceof Uint8Array) return { $bytes: Buffer.from(value).toString('base64') }
  if (value instanceof ArrayBuffer) return toTagged(new Uint8Array(value))
  if (value instanceof Date) return { $date: value.toISOString() }
  if (value instanceof URL) return { $url: value.href }
  if (Array.isArray(value)) return value.map((one) => toTagged(one))
  if (value !== null && typeof value === 'object') {
    if ('toJSON' in value && typeof value.toJSON === 'function') return toTagged(value.toJSON())
    const members = Object.entries(value).filter(([, member]) => member !== undefined && typeof member !== 'function')
    const json = Object.fromEntries(members.map(([name, member]) => [name, toTagged(member)]))
    return members.length === 1 && TAGS.has(members[0]![0]) ? { $value: json } : json
  }
  return typeof value === 'bigint' || typeof value === 'symbol' ? String(value) : ((value ?? null) as Json)
}

/** The inverse of {@link toTagged}. */
export function fromTagged(value: Json): unknown {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map((one) => fromTagged(one))
  const entries = Object.entries(value)
  const [[tag, text] = []] = entries
  if (entries.length === 1 && tag === '$value' && text !== null && typeof text === 'object')
    return membersOf(text as JsonObject)
  if (entries.length === 1 && typeof text === 'string') {
    if (tag === '$bytes') return new Uint8Array(Buffer.from(text, 'base64'))
    if (tag === '$date') return new Date(text)
    if (tag === '$url') return new URL(text)
  }
  return membersOf(value)
}

const membersOf = (value: JsonObject): unknown =>
  Object.fromEntries(Object.entries(value).map(([name, member]) => [name, fromTagged(member as Json)]))
