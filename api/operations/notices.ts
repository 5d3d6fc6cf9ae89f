import { asProblem } from './problem.ts'

/** An error for the operator: the remedy if known, otherwise the stack trace. */
export const operatorText = (error: unknown): string =>
  asProblem(error)?.message ?? (error instanceof Error ? (error.stack ?? error.message) : String(error))

/** Prints a message for the operator. */
export type Tell = (text: string) => void

export const onStderr: Tell = (text) => void process.stderr.write(`keepup: ${text}\n`)

/** Whether two messages are equal except for variable parts: numbers, cursors, file names. */
export const alike = (a: string, b: string): boolean => fixed(a) === fixed(b)

/** Process word by word, so that a long word without a digit is scanned once. */
const fixed = (text: string) => text.replace(/[^\s"():;,]+/g, (word) => (/\d/.test(word) ? '…' : word))
