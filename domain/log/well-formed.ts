const FLAW = /\0|\p{Surrogate}/u

/**
 * Returns the JSON value with NUL characters and lone surrogates replaced by U+FFFD, also in keys: not every store
 * returns such text unchanged. A well-formed value is returned itself, not a copy.
 */
export function wellFormed<T>(value: T): T {
  return replaced(value) as T
}

function replaced(value: unknown): unknown {
  if (typeof value === 'string') return FLAW.test(value) ? value.toWellFormed().replaceAll('\0', '\ufffd') : value
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) {
    const members = value.map(replaced)
    return members.some((member, i) => member !== value[i]) ? members : value
  }
  let changed = false
  const entries = Object.entries(value).map(([key, member]) => {
    const entry = [replaced(key) as string, replaced(member)] as const
    if (entry[0] !== key || entry[1] !== member) changed = true
    return entry
  })
  return changed ? Object.fromEntries(entries) : value
}
