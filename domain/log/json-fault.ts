const SPACE = /[ \t\n\r]*/y
const CHARACTERS = /[^"\\\u0000-\u001f]*/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORD = /true|false|null/y
const KEY = 'a key in double quotes and a colon'

export interface JsonFault {
  /** From 1. */
  readonly line: number
  /** From 1. */
  readonly column: number
  readonly expected: string
  /** The key that its object has already, where that is the fault. */
  readonly repeats?: string
}

/**
 * Where a text stops being JSON of which readers make the same: also at a key that stands twice in one object. Null where
 * it is that. The engine's own message quotes the text, which must not come back to the sender. One pass, no recursion.
 */
export function jsonFault(text: string): JsonFault | null {
  let at = 0
  /** The keys of each object that is open; null for an array. */
  const open: (Set<string> | null)[] = []
  const take = (re: RegExp): boolean => {
    re.lastIndex = at
    if (!re.test(text)) return false
    at = re.lastIndex
    return true
  }
  const skip = () => take(SPACE)
  /** A loop, because one expression would overflow the engine's stack on a string of some megabytes. */
  const string = (): boolean => {
    const start = at
    if (text[at] !== '"') return false
    at++
    do take(CHARACTERS)
    while (take(ESCAPE))
    if (text[at] !== '"') {
      at = start
      return false
    }
    at++
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
    } else if (c === '"' ? !string() : !take(NUMBER) && !take(WORD)) {
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
