// Control characters except tab and line feed (and the carriage return of a line end), characters without width or that
// change the text direction, line separators, and spaces that look like an ordinary one.
const HIDDEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]|\r(?!\n)|[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Zl}\p{Zp}\ufff9-\ufffb\u2800]|(?! )\p{Zs}/gu

const named = (c: string): string => `‹U+${c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}›`

/** The scripts whose words contain joiners (Unicode 17, 23.2 and the chapters of the scripts). */
const JOINING = ['Arabic', 'Syriac', 'Mongolian', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Oriya', 'Tamil']
  .concat(['Telugu', 'Kannada', 'Malayalam', 'Sinhala', 'Khmer', 'Myanmar'])
  .map((script) => `\\p{Script=${script}}`)
  .join('')

/** Invisible characters with a meaning at their place: joiners within words, and the parts of emoji. */
const ORDINARY = [
  `(?<=[${JOINING}])[\\u200c\\u200d](?=[${JOINING}])`,
  '(?<=\\p{Extended_Pictographic})[\\ufe0e\\ufe0f]',
  '(?<=[0-9#*])\\ufe0f(?=\\u20e3)',
  '(?<=\\p{Extended_Pictographic}\\ufe0f?|\\p{Emoji_Modifier})\\u200d(?=\\p{Extended_Pictographic})',
].join('|')
const UNEXPECTED = new RegExp(`(?!${ORDINARY})(?:${HIDDEN.source})`, 'gu')

/**
 * A text with every invisible or space-like character replaced by its code, such as ‹U+200B›. Joiners in words of scripts
 * that need them, and within emoji, stay; characters that change the text direction never do.
 */
export const visible = (text: string): string => text.replace(UNEXPECTED, named)

/** A longer run could push the text after it out of sight. */
const WIDE = /[ \t]{80,}/g

const HIDDEN_OR_MARK = new RegExp(`${HIDDEN.source}|‹`, 'gu')

/**
 * {@link visible} for a text that a person must approve. Also replaces joiners, and the mark ‹, so that text cannot imitate keepup's
 * marks, and long runs of spaces or tabs by their count.
 */
export const unmistakable = (text: string): string =>
  text.replace(HIDDEN_OR_MARK, named).replace(WIDE, (run) => `‹${run.length} spaces or tabs›`)

const BLANK_LINES = /((?:^[^\S\n]*\n){4,})/m

/** {@link unmistakable}, with four or more consecutive blank lines replaced by their count. */
export const condensed = (text: string, show = unmistakable): string =>
  text
    .split(BLANK_LINES)
    .map((part, i) => (i % 2 === 0 ? show(part) : `‹${part.split('\n').length - 1} blank lines›\n`))
    .join('')
