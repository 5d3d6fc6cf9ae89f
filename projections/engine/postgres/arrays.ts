import type { Cell } from '../changes/change.ts'

// One array per column makes a statement's text the same for any number of rows.

/** A PostgreSQL array literal of whole numbers. */
export function numbers(values: readonly Cell[]): string {
  return `{${values.map((value) => value ?? 'null').join()}}`
}

/** A PostgreSQL array literal of texts. PostgreSQL's text has no NUL: it becomes U+FFFD, as in all text that enters. */
export function texts(values: readonly Cell[]): string {
  let literal = '{'
  for (let i = 0; i < values.length; i++) {
    if (i > 0) literal += ','
    const value = values[i]
    literal += value === null || value === undefined ? 'null' : `"${escaped(String(value))}"`
  }
  return `${literal}}`
}

const SPECIAL = /["\\\0]/

const escaped = (text: string) =>
  SPECIAL.test(text) ? text.replaceAll('\0', '\ufffd').replaceAll('\\', '\\\\').replaceAll('"', '\\"') : text
