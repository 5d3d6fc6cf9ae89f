const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/** The nesting depth of a JSON text, and about how many values it contains. */
export interface JsonSize {
  readonly depth: number
  readonly values: number
}

const UNBOUNDED: JsonSize = { depth: Number.POSITIVE_INFINITY, values: Number.POSITIVE_INFINITY }

/**
 * Measures a text before it is parsed: parsing very deep text, and walking very many values, needs much more time and
 * memory than the text. One pass, no recursion. For text that is not JSON, the result covers at least its valid
 * beginning. Stops where the text exceeds `most`.
 */
export function jsonSize(text: string, most: JsonSize = UNBOUNDED): JsonSize {
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
    } else {
      if (c === CLOSE_ARRAY || c === CLOSE_OBJECT) open--
      continue
    }
    if (values > most.values || depth > most.depth) break
  }
  return { depth, values }
}

/** The index of the closing quote of the string that starts here, or the length of the text. */
export function endOfString(text: string, start: number): number {
  // A loop over the characters: searching for quotes is slower when nearly every quote is escaped.
  for (let at = start + 1; at < text.length; at++) {
    const c = text.charCodeAt(at)
    if (c === BACKSLASH) at++
    else if (c === QUOTE) return at
  }
  return text.length
}
