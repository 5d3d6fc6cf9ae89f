import { isSecretKey } from './key-names.ts'

/** Longer than every secret key name in any escaping, in characters. */
const LONGEST_KEY = 256

/**
 * Hides string values under secret key names in streamed text that begins like a JSON object or array; other text
 * passes unchanged. Only the end of the text shows whether it is JSON, so its beginning decides. `hide` returns the
 * replacement of a value under a key. Holds back secret values only.
 */
export function jsonValueFilter(hide: (key: string, value: string) => string) {
  let looksLikeJson: boolean | null = null
  /** The previous string, and whether a colon followed it; null after any other token. */
  let key: { readonly name: string; colon: boolean } | null = null
  /** The raw content of the unfinished string: all of it for a secret value, otherwise as much as a key can have. */
  let open: { parts: string[]; length: number; readonly hides: string | null; escaped: boolean } | null = null

  const begin = (): string => {
    const hides = key?.colon && isSecretKey(key.name) ? key.name : null
    open = { parts: [], length: 0, hides, escaped: false }
    return hides === null ? '"' : ''
  }
  const outside = (text: string): string => {
    const rest = text.trim()
    if (rest === ':' && key !== null && !key.colon) key.colon = true
    else if (rest !== '') key = null
    return text
  }
  const inside = (string: NonNullable<typeof open>, text: string, ended: boolean): string => {
    const { hides, parts } = string
    if (hides !== null || string.length <= LONGEST_KEY) parts.push(text)
    string.length += text.length
    if (!ended) return hides === null ? text : ''
    open = null
    if (hides !== null) {
      key = null
      return JSON.stringify(hide(hides, textOf(parts.join(''))))
    }
    key = string.length <= LONGEST_KEY ? { name: textOf(parts.join('')), colon: false } : null
    return `${text}"`
  }

  return {
    push(text: string): string {
      if (looksLikeJson === null) {
        const first = text.trimStart()[0]
        if (first !== undefined) looksLikeJson = first === '{' || first === '['
      }
      if (looksLikeJson !== true) return text
      let out = ''
      for (let at = 0; at < text.length; ) {
        const string: typeof open = open
        const quote = string === null ? text.indexOf('"', at) : endOfString(string, text, at)
        const end = quote < 0 ? text.length : quote
        const part = text.slice(at, end)
        if (string !== null) out += inside(string, part, quote >= 0)
        else out += outside(part) + (quote < 0 ? '' : begin())
        at = end + 1
      }
      return out
    },
    /** Returns an unfinished value unchanged, because the text is not JSON. */
    end: (): string => (open !== null && open.hides !== null ? `"${open.parts.join('')}` : ''),
  }
}

/** The index of a string's closing quote; -1: not received yet. */
function endOfString(string: { escaped: boolean }, text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (string.escaped) string.escaped = false
    else if (text[at] === '\\') string.escaped = true
    else if (text[at] === '"') return at
  }
  return -1
}

function textOf(raw: string): string {
  try {
    return JSON.parse(`"${raw}"`) as string
  } catch {
    return raw
  }
}
