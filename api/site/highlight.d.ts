/** A text as HTML shows it. */
export function escaped(text: string): string

/** Code as HTML, with classes for its parts. A language that is not known gives plain text. */
export function highlighted(code: string, language: string): string
