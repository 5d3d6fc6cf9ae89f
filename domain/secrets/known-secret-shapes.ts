import type { Span } from './spans.ts'

// Every expression takes linear time: a look-behind restricts where it can start, or its length is bounded. `secret`:
// the group to hide, if not the whole match. `marks`: every match contains one of these texts; searching for them first
// is many times faster. A case-insensitive shape has `mark`: every match contains it in lower case.
type Shape = { readonly shape: RegExp } & ({ readonly marks: readonly string[] } | { readonly mark: string })
const SHAPES: readonly Shape[] = [
  {
    marks: ['AKIA', 'ASIA', 'ABIA', 'ACCA'],
    shape: /(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])/dg,
  },
  {
    mark: 'aws',
    shape: /aws_?secret_?access_?key["']?\s{0,8}[:=]\s{0,8}["']?(?<secret>[A-Za-z0-9/+=]{40})(?![A-Za-z0-9/+=])/dgi,
  },
  { marks: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], shape: /(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{36,255}/dg },
  { marks: ['github_pat_'], shape: /(?<![A-Za-z0-9])github_pat_[A-Za-z0-9_]{22,255}/dg },
  { marks: ['glpat-'], shape: /(?<![A-Za-z0-9])glpat-[A-Za-z0-9_-]{20,255}/dg },
  { marks: ['npm_'], shape: /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])/dg },
  { marks: ['AIza'], shape: /(?<![A-Za-z0-9])AIza[0-9A-Za-z_-]{35}(?![A-Za-z0-9_-])/dg },
  { marks: ['_live_', '_test_'], shape: /(?<![A-Za-z0-9])(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,255}/dg },
  { marks: ['xox', 'xapp-'], shape: /(?<![A-Za-z0-9])(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,512}/dg },
  { marks: ['hooks.slack.com/services/'], shape: /(?<=hooks\.slack\.com\/services\/)[A-Za-z0-9/]{20,255}/dg },
  { marks: ['sk-'], shape: /(?<![A-Za-z0-9])sk-(?:ant|proj|svcacct|admin|or)-[A-Za-z0-9_-]{16,512}/dg },
  { marks: ['sk-'], shape: /(?<![A-Za-z0-9])sk-[A-Za-z0-9]{32,255}/dg },
  { marks: ['.eyJ'], shape: /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/dg },
  {
    mark: 'bearer',
    shape: /(?<![A-Za-z0-9])bearer\s{1,8}(?<secret>(?=[A-Za-z._~+/=-]{0,512}[0-9])[A-Za-z0-9._~+/=-]{8,})/dgi,
  },
  { marks: ['://'], shape: /(?<=:\/\/)[^\s/:@"'<>]{1,256}:(?<secret>[^\s/@"'<>]{3,256})@/dg },
]

/** The length of the shortest text with a secret, `://u:abc@`. */
const SHORTEST = 9

/**
 * Finds secrets by shape: tokens of known vendors, JWTs, bearer tokens, passwords in URLs, private keys. Over `most` of
 * them: one span of the whole text.
 */
export function findShapes(text: string, most = Number.POSITIVE_INFINITY): Span[] {
  if (text.length < SHORTEST) return []
  const found = text.includes('-----') ? privateKeys(text) : []
  const lower = text.toLowerCase()
  for (const one of SHAPES) {
    if (!('mark' in one ? lower.includes(one.mark) : one.marks.some((mark) => text.includes(mark)))) continue
    const { shape } = one
    for (const match of text.matchAll(shape)) {
      const [start, end] = match.indices?.groups?.secret ?? match.indices?.[0] ?? [0, 0]
      found.push({ start, end })
      if (found.length > most) return [{ start: 0, end: text.length }]
    }
  }
  return found
}

const MARKER = /-----(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
/** A truncated private key: whole lines of base64 after the opening line, with real or escaped line ends. */
const CUT_KEY = /(?:\s|\\[nr]){1,8}[A-Za-z0-9+/=]{32,8192}(?:(?:\s|\\[nr]){1,8}[A-Za-z0-9+/=]{16,8192})*/y
/** The maximum length of a private key, in characters. */
export const MAX_KEY_BLOCK = 65_536

function privateKeys(text: string): Span[] {
  const found: Span[] = []
  let open: { start: number; body: number } | null = null
  const cutOff = () => {
    if (!open) return
    CUT_KEY.lastIndex = open.body
    if (CUT_KEY.test(text)) found.push({ start: open.start, end: CUT_KEY.lastIndex })
    open = null
  }
  for (const marker of text.matchAll(MARKER)) {
    const end = marker.index + marker[0].length
    if (marker[1] === 'BEGIN') {
      cutOff()
      open = { start: marker.index, body: end }
    } else if (open && holdsKey(text.slice(open.body, Math.min(marker.index, open.body + MAX_KEY_BLOCK + 1)))) {
      found.push({ start: open.start, end })
      open = null
    } else {
      cutOff()
    }
  }
  cutOff()
  return found
}

/** Excludes program text that only names the two marker lines. */
const holdsKey = (body: string): boolean => body.length <= MAX_KEY_BLOCK && /[A-Za-z0-9+/=]{20}/.test(body)

/**
 * For streams: the offset from which the end of the text may begin a shape. Only bearer tokens, AWS keys and private
 * keys contain white space.
 */
export function pendingShape(text: string): number {
  const end = text.includes('-----') ? beforeKey(text) : text.length
  const from = startOfWord(text, end)
  // A word after a mark may be a secret. Most words end with another letter than the marks do.
  if (!/[ry"':=]\s{0,16}$/i.test(text.slice(Math.max(0, from - 17), from))) return from
  const scheme = /(?:(?<![A-Za-z0-9])bearer|aws_?secret_?access_?key["']?\s{0,8}[:=]?)\s{0,8}$/i.exec(
    text.slice(Math.max(0, from - 64), from),
  )
  return scheme ? from - scheme[0].length : from
}

/** The offset of a private key that has begun and not ended; the length of the text when there is none. */
function beforeKey(text: string): number {
  let end = text.length
  const marker = /-----BEGIN [A-Z0-9 ]{0,60}-{0,5}$/.exec(text.slice(-80))
  if (marker) end -= marker[0].length
  let key = -1
  for (const match of text.matchAll(MARKER)) key = match[1] === 'BEGIN' ? match.index : -1
  return key >= 0 && text.length - key <= MAX_KEY_BLOCK ? Math.min(end, key) : end
}

const SPACE = /\s/

/** The offset of the word that ends at `end`, at most {@link MAX_TOKEN} characters before it. */
function startOfWord(text: string, end: number): number {
  const earliest = Math.max(0, end - MAX_TOKEN)
  let at = end
  while (at > earliest && !SPACE.test(text[at - 1]!)) at--
  return at
}

/** The longest run without white space that a stream holds back, in characters. */
const MAX_TOKEN = 16_384

/** Beginnings of the shapes above that {@link findShapes} does not recognise yet. Each contains the whole mark. */
const BEGINNINGS: readonly RegExp[] = [
  /(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{0,15}$/d,
  /aws_?secret_?access_?key["']?\s{0,8}[:=]\s{0,8}["']?(?<secret>[A-Za-z0-9/+=]{1,39})$/di,
  /(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{0,35}$/d,
  /(?<![A-Za-z0-9])github_pat_[A-Za-z0-9_]{0,21}$/d,
  /(?<![A-Za-z0-9])glpat-[A-Za-z0-9_-]{0,19}$/d,
  /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{0,35}$/d,
  /(?<![A-Za-z0-9])AIza[0-9A-Za-z_-]{0,34}$/d,
  /(?<![A-Za-z0-9])(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{0,15}$/d,
  /(?<![A-Za-z0-9])(?:xox[a-z]|xapp)-[A-Za-z0-9-]{0,9}$/d,
  /(?<=hooks\.slack\.com\/services\/)[A-Za-z0-9/]{1,19}$/d,
  /(?<![A-Za-z0-9])sk-(?:(?:ant|proj|svcacct|admin|or)-[A-Za-z0-9_-]{0,15}|[A-Za-z0-9]{1,31})$/d,
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]*(?:\.(?:e(?:yJ?)?|eyJ[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]{0,7})?)?)?$/d,
  /(?<![A-Za-z0-9])bearer\s{1,8}(?<secret>[A-Za-z._~+/=-]{1,512}|[A-Za-z0-9._~+/=-]{1,7})$/di,
  // Up to five digits are a port: many sentences end with an address.
  /(?<=:\/\/)[^\s/:@"'<>]{1,256}:(?!\d{1,5}\.?$)(?<secret>[^\s/@"'<>]{1,256})$/d,
]

/** A truncated key may continue after this many characters, fewer than two lines. */
const KEY_LINE = 100

/**
 * The offset at which the end of the text begins a shape that {@link findShapes} does not recognise yet; the length of
 * the text when there is none. Unlike {@link pendingShape}, it ignores complete shapes that may become longer.
 */
export function beginningOfShape(text: string): number {
  let from = openKey(text)
  const base = lastWordOf(text)
  const tail = text.slice(base)
  if (/\s$/.test(tail)) return from
  for (const beginning of BEGINNINGS) {
    const { indices } = beginning.exec(tail) ?? {}
    const found = indices?.groups?.secret ?? indices?.[0]
    if (found !== undefined) from = Math.min(from, base + found[0])
  }
  return from
}

/** The offset of a text's last word, minus {@link LEAD}. */
export function lastWordOf(text: string): number {
  return Math.max(0, startOfWord(text, text.length) - LEAD)
}

/** The longest mark before a secret, such as `aws_secret_access_key = `, in characters. */
const LEAD = 48

/** The offset of an unfinished private key, or of a possible rest of a truncated one; else the text's length. */
function openKey(text: string): number {
  if (!text.includes('-----')) return text.length
  const marker = /-----BEGIN [A-Z0-9 ]{0,60}-{0,5}$/.exec(text.slice(-80))
  if (marker) return text.length - marker[0].length
  let open: RegExpExecArray | null = null
  for (const match of text.matchAll(MARKER)) open = match[1] === 'BEGIN' ? match : null
  if (open === null || text.length - open.index > MAX_KEY_BLOCK) return text.length
  CUT_KEY.lastIndex = open.index + open[0].length
  if (!CUT_KEY.test(text)) return open.index
  return text.length - CUT_KEY.lastIndex <= KEY_LINE ? CUT_KEY.lastIndex : text.length
}
