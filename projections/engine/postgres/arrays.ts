import type { CellValue } from '../changes/change.ts'

// With one array per column, a statement's text does not depend on the number of rows.

/** A PostgreSQL array literal of integers. */
export function numbers(values: readonly CellValue[]): string {
  return `{${values.map((value) => value ?? 'null').join()}}`
}

/** A PostgreSQL array literal of texts. NUL becomes U+FFFD, because PostgreSQL's text cannot contain it. */
export function texts(values: readonly CellValue[]): string {
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
