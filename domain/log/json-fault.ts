const UNICODE_ESCAPE = /u[0-9a-fA-F]{4}/y
const ESCAPED = '"\\/bfnrt'
const [QUOTE, BACKSLASH, SPACE_CODE, TAB, LINE_FEED, RETURN] = [0x22, 0x5c, 0x20, 0x09, 0x0a, 0x0d]
const [ZERO, ONE, NINE] = [0x30, 0x31, 0x39]
/** A digit followed by one of these is not part of a plain integer. */
const GOES_ON = '.eE'
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORD = /true|false|null/y
const KEY = 'a key in double quotes and a colon'

export interface JsonFault {
  /** From 1. */
  readonly line: number
  /** From 1. */
  readonly column: number
  readonly expected: string
  /** The repeated key, when the fault is a key that its object already has. */
  readonly repeats?: string
}

/**
 * Finds the place where a text stops being JSON that all readers parse alike; null when there is none. A repeated key
 * in an object counts as a fault. `JSON.parse` is not used for this: its message quotes the text, which must not go
 * back to the sender. One pass, no recursion.
 */
export function jsonFault(text: string): JsonFault | null {
  let at = 0
  /** The keys of each open object; null for an array. */
  const open: (Set<string> | null)[] = []
  const take = (re: RegExp): boolean => {
    re.lastIndex = at
    if (!re.test(text)) return false
    at = re.lastIndex
    return true
  }
  // Character codes instead of regular expressions: an answer may contain half a million values.
  const skip = () => {
    for (;;) {
      const c = text.charCodeAt(at)
      if (c !== SPACE_CODE && c !== LINE_FEED && c !== RETURN && c !== TAB) return
      at++
    }
  }
  const number = (): boolean => {
    const end = endOfInteger(text, at)
    if (end < 0) return take(NUMBER)
    at = end
    return true
  }
  /** Skips a string and returns true, or returns false when no string starts here. */
  const string = (): boolean => {
    const end = text[at] === '"' ? endOfString(text, at) : -1
    if (end < 0) return false
    at = end
    return true
  }
  const fault = (expected: string): JsonFault => {
    const before = text.slice(0, at)
    const line = before.split('\n').length
    return { line, column: at - before.lastIndexOf('\n'), expected }
  }
  const key = (keys: Set<string>): JsonFault | null => {
    skip()
    const start = at
    if (!string()) return fault(KEY)
    const name = JSON.parse(text.slice(start, at)) as string
    skip()
    if (text[at] !== ':') return fault(KEY)
    if (keys.size === keys.add(name).size) {
      at = start
      return { ...fault('a key that its object does not have yet'), repeats: name }
    }
    at++
    return null
  }

  for (;;) {
    skip()
    const c = text[at]
    if (c === '{' || c === '[') {
      at++
      skip()
      if (text[at] === (c === '{' ? '}' : ']')) at++
      else {
        const keys = c === '{' ? new Set<string>() : null
        open.push(keys)
        const wrong = keys && key(keys)
        if (wrong) return wrong
        continue
      }
    } else if (c === '"' ? !string() : !number() && !take(WORD)) {
      return fault(c === '"' ? 'a string that ends, with its control characters escaped' : 'a JSON value')
    }
    for (;;) {
      skip()
      const inside = open.at(-1)
      if (inside === undefined) return at === text.length ? null : fault('the end of the text')
      if (text[at] === ',') {
        at++
        const wrong = inside && key(inside)
        if (wrong) return wrong
        break
      }
      if (text[at] !== (inside ? '}' : ']')) return fault(inside ? '"," or "}"' : '"," or "]"')
      at++
      open.pop()
    }
  }
}

/** The index after the positive integer that starts here; -1 for any other number or token. */
function endOfInteger(text: string, start: number): number {
  const first = text.charCodeAt(start)
  if (!(first >= ONE && first <= NINE)) return -1
  let at = start + 1
  for (let c = text.charCodeAt(at); c >= ZERO && c <= NINE; c = text.charCodeAt(at)) at++
  return GOES_ON.includes(text[at] ?? ' ') ? -1 : at
}

/** The index after the string that starts at this quote; -1 when it is not a JSON string. Reads each character once. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const c = text.charCodeAt(at)
    if (c === QUOTE) return at + 1
    if (c < SPACE_CODE) return -1
    if (c !== BACKSLASH || ESCAPED.includes(text[at + 1] ?? '?')) {
      if (c === BACKSLASH) at++
      continue
    }
    UNICODE_ESCAPE.lastIndex = at + 1
    if (!UNICODE_ESCAPE.test(text)) return -1
    at += 5
  }
  return -1
}
