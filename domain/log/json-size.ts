const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/** How deep a text of JSON is nested, and about how many values it holds. */
export interface JsonSize {
  readonly depth: number
  readonly values: number
}

/**
 * The size of a text before it is parsed: parsing what is nested very deep, and walking what holds very many values, takes
 * more than the text does. One pass, no recursion. Of what is no JSON it says no less than its beginning holds.
 */
export function jsonSize(text: string): JsonSize {
  let open = 0
  let depth = 0
  let values = 1
  for (let at = 0; at < text.length; at++) {
    const c = text.charCodeAt(at)
    if (c === QUOTE) at = endOfString(text, at)
    else if (c === COMMA) values++
    else if (c === OPEN_ARRAY || c === OPEN_OBJECT) {
      values++
      if (++open > depth) depth = open
    } else if (c === CLOSE_ARRAY || c === CLOSE_OBJECT) open--
  }
  return { depth, values }
}

/** Where the string that begins at a quote ends: at its own quote, or at the end of the text. */
export function endOfString(text: string, start: number): number {
  // A loop over the characters, for a search for quotes costs more where nearly every one of them is escaped.
  for (let at = start + 1; at < text.length; at++) {
    const c = text.charCodeAt(at)
    if (c === BACKSLASH) at++
    else if (c === QUOTE) return at
  }
  return text.length
}
