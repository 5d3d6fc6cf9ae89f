import stringWidth from 'fast-string-width'

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** Control characters, and marks that change the text direction. A terminal would obey them. */
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/**
 * Sanitizes text from models, tools and people. Makes control characters visible instead of sending them to the
 * terminal.
 */
export function safe(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(UNSAFE, (c) => {
    const code = c.charCodeAt(0)
    if (code < 0x20) return String.fromCharCode(0x2400 + code)
    return code === 0x7f ? '\u2421' : `<${code.toString(16).padStart(2, '0')}>`
  })
}

/** Sanitizes JSON by escaping control characters. The value stays the same. */
export const safeJson = (json: string): string =>
  json.replace(UNSAFE, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Quotes a word for a shell. */
export const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`

/** {@link safe} on one line. */
export const oneLine = (text: string): string => safe(text).replace(/\s+/g, ' ').trim()

/** The width of a text in terminal cells. */
export const cells = (text: string): number => stringWidth(text)

/** Truncates a text to `width` cells, with an ellipsis. Never cuts inside a character. */
export function truncateToWidth(text: string, width: number): string {
  if (cells(text) <= width) return text
  let out = ''
  let used = 0
  for (const { segment } of graphemes.segment(text)) {
    const more = cells(segment)
    if (used + more > width - 1) break
    out += segment
    used += more
  }
  return `${out}…`
}

/** Pads a text to `width` cells. */
export function pad(text: string, width: number, side: 'left' | 'right' = 'left'): string {
  const fill = ' '.repeat(Math.max(0, width - cells(text)))
  return side === 'left' ? text + fill : fill + text
}
