const SPACE = /[ \t\n\r]*/y
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORD = /true|false|null/y

/**
 * Where a text stops being JSON: line and column from 1, and what was expected; null where it is JSON. The engine's own
 * message quotes the text, which must not come back to the sender. One pass, no recursion.
 */
export function jsonFault(text: string): { line: number; column: number; expected: string } | null {
  let at = 0
  const open: ('{' | '[')[] = []
  const take = (re: RegExp): boolean => {
    re.lastIndex = at
    if (!re.test(text)) return false
    at = re.lastIndex
    return true
  }
  const skip = () => take(SPACE)
  const fault = (expected: string) => {
    const before = text.slice(0, at)
    const line = before.split('\n').length
    return { line, column: at - before.lastIndexOf('\n'), expected }
  }
  const key = (): boolean => {
    skip()
    if (!take(STRING)) return false
    skip()
    if (text[at] !== ':') return false
    at++
    return true
  }

  for (;;) {
    skip()
    const c = text[at]
    if (c === '{' || c === '[') {
      at++
      skip()
      if (text[at] === (c === '{' ? '}' : ']')) at++
      else {
        open.push(c)
        if (c === '{' && !key()) return fault('a key in double quotes and a colon')
        continue
      }
    } else if (c === '"' ? !take(STRING) : !take(NUMBER) && !take(WORD)) {
      return fault(c === '"' ? 'a string that ends, with its control characters escaped' : 'a JSON value')
    }
    for (;;) {
      skip()
      const inside = open.at(-1)
      if (inside === undefined) return at === text.length ? null : fault('the end of the text')
      if (text[at] === ',') {
        at++
        if (inside === '{' && !key()) return fault('a key in double quotes and a colon')
        break
      }
      if (text[at] !== (inside === '{' ? '}' : ']')) return fault(inside === '{' ? '"," or "}"' : '"," or "]"')
      at++
      open.pop()
    }
  }
}
