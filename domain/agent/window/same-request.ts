import type { ModelRequest } from '../../calls/model-call.ts'
import { canonicalText } from '../../log/canonical.ts'

// Compares requests of two runs: their bytes must be equal except for run ids, which occur in the ids of calls.

/**
 * The members in which a request differs from the recorded one, sorted; for messages only the first difference. Empty:
 * the requests are equal. `ids`: agent ids of both histories, which are ignored.
 */
export function requestDifferences(asked: ModelRequest, recorded: ModelRequest, ids: readonly string[]): string[] {
  const { messages: a, ...rest } = asked
  const { messages: b, ...others } = recorded
  const inOne = new Set([...Object.keys(rest), ...Object.keys(others)]) as Set<keyof typeof rest>
  const differs: string[] = [...inOne].filter(
    (name) => text(rest[name] ?? null, ids) !== text(others[name] ?? null, ids),
  )
  const shorter = Math.min(a.length, b.length)
  let at = 0
  while (at < shorter && text(a[at], ids) === text(b[at], ids)) at++
  if (at < Math.max(a.length, b.length)) differs.push(`messages[${at}]`)
  return differs.sort()
}

/** The text of each message, cached because consecutive requests share the message objects. */
const written = new WeakMap<object, { readonly ids: readonly string[]; readonly text: string }>()

function text(value: unknown, ids: readonly string[]): string {
  const key = value !== null && typeof value === 'object' ? value : null
  const known = key === null ? undefined : written.get(key)
  if (known?.ids === ids) return known.text
  const plain = ids.reduce((told, id) => told.replaceAll(id, 'ID'), canonicalText(value))
  if (key !== null) written.set(key, { ids, text: plain })
  return plain
}
