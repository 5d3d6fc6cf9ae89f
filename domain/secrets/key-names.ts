import { endOfString } from '../log/json-size.ts'

/** The closed list of key names of secret values, compared without case, `_` and `-`. */
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
  'accesskeyid',
  'secretaccesskey',
  'sessiontoken',
  'cookie',
  'setcookie',
])

/** Whether a value under this key is a secret. Compares the whole name. */
export const isSecretKey = (key: string): boolean => SECRET_KEYS.has(key.toLowerCase().replace(/[_-]/g, ''))

/**
 * The string values under secret keys in a text that is, as a whole, a JSON object or array; none for any other text.
 * `start` and `end`: the range of the value's token, with its quotes. `value`: the decoded string.
 */
export function secretValuesInJson(text: string): { start: number; end: number; value: string }[] {
  if (!/^\s*[[{]/.test(text) || !parses(text)) return []
  const found: { start: number; end: number; value: string }[] = []
  /** The end of a secret's key, after which its value may begin; -1: none. */
  let named = -1
  for (let start = text.indexOf('"'); start >= 0; ) {
    const end = endOfString(text, start) + 1
    if (named >= 0 && text.slice(named, start).trim() === ':')
      found.push({ start, end, value: JSON.parse(text.slice(start, end)) as string })
    named = isKey(text, end) && isSecretKey(JSON.parse(text.slice(start, end)) as string) ? end : -1
    start = text.indexOf('"', end)
  }
  return found
}

/** Only a key is followed by a colon. */
function isKey(text: string, end: number): boolean {
  let at = end
  while (SPACES.has(text.charCodeAt(at))) at++
  return text.charCodeAt(at) === COLON
}
const SPACES: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d])
const COLON = 0x3a

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
