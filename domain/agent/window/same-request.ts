import type { ModelRequest } from '../../calls/model-call.ts'
import { canonicalText } from '../../log/canonical.ts'

// Whether two runs ask a model for the same thing: their requests are the same bytes, apart from the ids of the runs, which
// stand in the ids of calls.

/**
 * The members in which a request is not the recorded one, in order; of the messages the first. None: both are the same bytes
 * but for `ids`, the ids of the agents that the two histories are of.
 */
export function differences(asked: ModelRequest, recorded: ModelRequest, ids: readonly string[]): string[] {
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

/** Messages are the same objects from request to request: each is written once. */
const written = new WeakMap<object, { readonly ids: readonly string[]; readonly text: string }>()

function text(value: unknown, ids: readonly string[]): string {
  const key = value !== null && typeof value === 'object' ? value : null
  const known = key === null ? undefined : written.get(key)
  if (known?.ids === ids) return known.text
  const plain = ids.reduce((told, id) => told.replaceAll(id, 'ID'), canonicalText(value))
  if (key !== null) written.set(key, { ids, text: plain })
  return plain
}
