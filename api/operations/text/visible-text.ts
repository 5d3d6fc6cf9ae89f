// Control characters but tab and line feed (and the carriage return of a line's end), whatever has no width or turns the
// direction of text, line separators, and spaces that look like the one of the keyboard.
const HIDDEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]|\r(?!\n)|[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Zl}\p{Zp}\ufff9-\ufffb\u2800]|(?! )\p{Zs}/gu

const named = (c: string): string => `‹U+${c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}›`

/** A text in which every character that a person would not see, or not tell from a space, stands as ‹U+200B›. */
export const visible = (text: string): string => text.replace(HIDDEN, named)

/** A longer run would push what follows it out of sight. */
const WIDE = /[ \t]{80,}/g

const HIDDEN_OR_MARK = new RegExp(`${HIDDEN.source}|‹`, 'gu')

/**
 * {@link visible} for a text that a person is to approve. The mark ‹ is replaced too, so that no text can imitate one of our
 * marks, and a long run of spaces or tabs stands as its number.
 */
export const unmistakable = (text: string): string =>
  text.replace(HIDDEN_OR_MARK, named).replace(WIDE, (run) => `‹${run.length} spaces or tabs›`)

const BLANK_LINES = /((?:^[^\S\n]*\n){4,})/m

/** {@link unmistakable}, with four or more blank lines in a row as their number. */
export const condensed = (text: string, show = unmistakable): string =>
  text
    .split(BLANK_LINES)
    .map((part, i) => (i % 2 === 0 ? show(part) : `‹${part.split('\n').length - 1} blank lines›\n`))
    .join('')
