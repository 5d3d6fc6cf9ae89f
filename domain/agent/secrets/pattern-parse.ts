/** Ranges of UTF-16 units, both ends inclusive. */
export type Units = readonly (readonly [number, number])[]

export type Pattern =
  | { readonly kind: 'units'; readonly units: Units; readonly negated: boolean }
  | { readonly kind: 'assert'; readonly at: 'start' | 'end' | 'word' | 'not_word' }
  | { readonly kind: 'all'; readonly parts: readonly Pattern[] }
  | { readonly kind: 'any'; readonly parts: readonly Pattern[] }
  | {
      readonly kind: 'repeat'
      readonly of: Pattern
      readonly min: number
      readonly max: number
      readonly lazy: boolean
    }

/** A pattern that cannot be run in linear time, or that is none. The message says what to change. */
export class PatternError extends Error {
  override readonly name = 'PatternError'
}

const DIGIT: Units = [[48, 57]]
const WORD: Units = [
  [48, 57],
  [65, 90],
  [95, 95],
  [97, 122],
]
const SPACE: Units = [
  [9, 13],
  [32, 32],
  [160, 160],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
]
const LINE_END: Units = [
  [10, 10],
  [13, 13],
  [0x2028, 0x2029],
]
const CLASSES: Readonly<Record<string, Units>> = { d: DIGIT, w: WORD, s: SPACE }
const CONTROLS: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, v: 11, f: 12, '0': 0 }
const MAX_REPEAT = 1000

/** What is in a class, as ranges: `[^…]` and `\D` inside a class are turned around at once. */
const invert = (units: Units): Units => {
  const out: [number, number][] = []
  let from = 0
  for (const [low, high] of [...units].sort((a, b) => a[0] - b[0])) {
    if (low > from) out.push([from, low - 1])
    from = Math.max(from, high + 1)
  }
  if (from <= 0xffff) out.push([from, 0xffff])
  return out
}

/**
 * Parses a regular expression's source: the common part of JavaScript's syntax (no flags). Look-around and
 * back-references are refused, because no engine can run them in linear time.
 */
export function parsePattern(source: string): Pattern {
  let at = 0
  const fail = (what: string): never => {
    throw new PatternError(`pattern ${JSON.stringify(source)}: ${what} at character ${at + 1}`)
  }
  const peek = () => source[at] ?? ''
  const take = () => source[at++] ?? fail('ends too early')

  const alternatives = (): Pattern => {
    const parts = [sequence()]
    while (peek() === '|') {
      at++
      parts.push(sequence())
    }
    return parts.length === 1 ? (parts[0] as Pattern) : { kind: 'any', parts }
  }
  const sequence = (): Pattern => {
    const parts: Pattern[] = []
    while (at < source.length && peek() !== '|' && peek() !== ')') parts.push(repeated(atom()))
    return { kind: 'all', parts }
  }
  const repeated = (of: Pattern): Pattern => {
    const bounds = quantifier()
    if (!bounds) return of
    if (of.kind === 'assert') fail('nothing to repeat')
    const lazy = peek() === '?'
    if (lazy) at++
    if (quantifier()) fail('nothing to repeat')
    return { kind: 'repeat', of, min: bounds[0], max: bounds[1], lazy }
  }
  const quantifier = (): readonly [number, number] | null => {
    const simple = ({ '*': [0, Infinity], '+': [1, Infinity], '?': [0, 1] } as const)[peek()]
    if (simple) {
      at++
      return simple
    }
    const counted = /^\{(\d{1,9})(,(\d{0,9}))?\}/.exec(source.slice(at, at + 24))
    if (!counted) return null
    const min = Number(counted[1])
    const max = counted[2] === undefined ? min : counted[3] ? Number(counted[3]) : Infinity
    if (min > MAX_REPEAT || (max !== Infinity && max > MAX_REPEAT)) fail(`repeats more than ${MAX_REPEAT} times`)
    if (max < min) fail('numbers out of order in {}')
    at += counted[0].length
    return [min, max]
  }
  const atom = (): Pattern => {
    const c = take()
    if (c === '(') return group()
    if (c === '[') return characterClass()
    if (c === '.') return { kind: 'units', units: LINE_END, negated: true }
    if (c === '^') return { kind: 'assert', at: 'start' }
    if (c === '$') return { kind: 'assert', at: 'end' }
    if (c === '*' || c === '+' || c === '?') return fail('nothing to repeat')
    if (c !== '\\') return one(c.charCodeAt(0))
    if (peek() === 'b' || peek() === 'B') return { kind: 'assert', at: take() === 'b' ? 'word' : 'not_word' }
    if (/[1-9k]/.test(peek())) return fail('back-references are not supported')
    return { kind: 'units', units: escaped(), negated: false }
  }
  const group = (): Pattern => {
    if (peek() === '?') {
      const named = /^\?(?::|<[A-Za-z_$][\w$]*>)/.exec(source.slice(at))
      if (!named) return fail('look-around and inline flags are not supported')
      at += named[0].length
    }
    const inner = alternatives()
    if (peek() !== ')') return fail('a group is not closed')
    at++
    return inner
  }
  const escaped = (): Units => {
    const c = take()
    const known = CLASSES[c.toLowerCase()]
    if (known) return c === c.toLowerCase() ? known : invert(known)
    const control = CONTROLS[c]
    if (control !== undefined) return [[control, control]]
    const hex = c === 'x' ? /^[0-9a-fA-F]{2}/ : c === 'u' ? /^[0-9a-fA-F]{4}/ : null
    if (hex) {
      const digits = hex.exec(source.slice(at))?.[0] ?? fail('bad escape')
      at += digits.length
      const unit = Number.parseInt(digits, 16)
      return [[unit, unit]]
    }
    if (/[A-Za-z0-9]/.test(c)) return fail(`unknown escape \\${c}`)
    return [[c.charCodeAt(0), c.charCodeAt(0)]]
  }
  const member = (): Units => {
    const c = take()
    if (c !== '\\') return [[c.charCodeAt(0), c.charCodeAt(0)]]
    if (peek() === 'b') {
      at++
      return [[8, 8]]
    }
    return escaped()
  }
  const characterClass = (): Pattern => {
    const negated = peek() === '^'
    if (negated) at++
    const units: (readonly [number, number])[] = []
    while (peek() !== ']') {
      const low = member()
      if (peek() !== '-' || source[at + 1] === ']' || source[at + 1] === undefined) {
        units.push(...low)
        continue
      }
      at++
      const high = member()
      const [from, to] = [low[0]?.[0] as number, high[0]?.[0] as number]
      if (low.length !== 1 || high.length !== 1 || low[0]?.[1] !== from || high[0]?.[1] !== to || to < from) {
        return fail('bad range in a class')
      }
      units.push([from, to])
    }
    at++
    return { kind: 'units', units, negated }
  }
  const one = (unit: number): Pattern => ({ kind: 'units', units: [[unit, unit]], negated: false })

  const pattern = alternatives()
  if (at < source.length) fail('unmatched )')
  return pattern
}
