/** CONTRACTS 3, Secrets: the closed list, compared without case, `_` and `-`. */
const SECRET_KEYS: ReadonlySet<string> = new Set([
  'password',
  'passwd',
  'passphrase',
  'secret',
  'clientsecret',
  'token',
  'accesstoken',
  'refreshtoken',
  'idtoken',
  'apikey',
  'authorization',
  'privatekey',
  'cookie',
  'setcookie',
])

/** Whether a value under this whole key name is a secret. */
export const isSecretKey = (key: string): boolean => SECRET_KEYS.has(key.toLowerCase().replace(/[_-]/g, ''))

/**
 * The string values under secret keys in a text that is, as a whole, a JSON object or array; none for any other text.
 * `start` and `end` are those of the value's token, quotes included; `value` is what it says.
 */
export function secretValuesInJson(text: string): { start: number; end: number; value: string }[] {
  if (!/^\s*[[{]/.test(text) || !parses(text)) return []
  const found: { start: number; end: number; value: string }[] = []
  let key: { name: string; end: number } | null = null
  for (let start = text.indexOf('"'); start >= 0; start = text.indexOf('"', key.end)) {
    const end = endOfString(text, start)
    const value = JSON.parse(text.slice(start, end)) as string
    if (key && isSecretKey(key.name) && text.slice(key.end, start).trim() === ':') found.push({ start, end, value })
    key = { name: value, end }
  }
  return found
}

/** A loop, because an expression would overflow the engine's stack on strings of some megabytes. */
function endOfString(text: string, start: number): number {
  let at = start + 1
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
