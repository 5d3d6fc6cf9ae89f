import { isSecretKey } from './key-names.ts'

/** Longer than every name on the list, however it is escaped. In characters. */
const LONGEST_KEY = 256

/**
 * Hides string values under secret key names in text that comes in pieces and begins as a JSON object or array does; other
 * text passes as it is. Whether the whole of it is JSON shows only at its end, so that text which merely begins so counts
 * as JSON. `hide` gives what stands for a value under a key. Holds back nothing but such a value.
 */
export function jsonValueFilter(hide: (key: string, value: string) => string) {
  let looksLikeJson: boolean | null = null
  /** The string before, and whether a colon has come since; null: something else has. */
  let key: { readonly name: string; colon: boolean } | null = null
  /** The raw content of the string that has begun: of a value that is hidden all of it, else what a key may be. */
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
    /** A value that has not ended is told as it is: the text is no JSON. */
    end: (): string => (open !== null && open.hides !== null ? `"${open.parts.join('')}` : ''),
  }
}

/** Where a string's closing quote stands; -1: it has not come yet. */
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
