import type { Json } from '../../../domain/log/json.ts'

// Values of the AI SDK that JSON does not have: bytes, times and URLs.

/** The value as JSON. Members that JSON drops are dropped. */
export function toTagged(value: unknown): Json {
  if (value instanceof Uint8Array) return { $bytes: Buffer.from(value).toString('base64') }
  if (value instanceof ArrayBuffer) return toTagged(new Uint8Array(value))
  if (value instanceof Date) return { $date: value.toISOString() }
  if (value instanceof URL) return { $url: value.href }
  if (Array.isArray(value)) return value.map((one) => toTagged(one))
  if (value !== null && typeof value === 'object') {
    const members = Object.entries(value).filter(([, member]) => member !== undefined && typeof member !== 'function')
    return Object.fromEntries(members.map(([name, member]) => [name, toTagged(member)]))
  }
  return typeof value === 'bigint' || typeof value === 'symbol' ? String(value) : ((value ?? null) as Json)
}

/** The inverse of {@link toTagged}. */
export function fromTagged(value: Json): unknown {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map((one) => fromTagged(one))
  const entries = Object.entries(value)
  const [[tag, text] = []] = entries
  if (entries.length === 1 && typeof text === 'string') {
    if (tag === '$bytes') return new Uint8Array(Buffer.from(text, 'base64'))
    if (tag === '$date') return new Date(text)
    if (tag === '$url') return new URL(text)
  }
  return Object.fromEntries(entries.map(([name, member]) => [name, fromTagged(member as Json)]))
}
