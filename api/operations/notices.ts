import { asProblem } from './problem.ts'

/** An error for the operator of this process: what to do where that is known, else where it happened. */
export const told = (error: unknown): string =>
  asProblem(error)?.message ?? (error instanceof Error ? (error.stack ?? error.message) : String(error))

/** Tells the operator of this process something, in plain words. */
export type Tell = (text: string) => void

export const onStderr: Tell = (text) => void process.stderr.write(`keepup: ${text}\n`)

/** Whether two messages say the same but for what is another each time: numbers, cursors, names of files. */
export const alike = (a: string, b: string): boolean => fixed(a) === fixed(b)

/** Word by word, so that a long one without a digit is looked at once. */
const fixed = (text: string) => text.replace(/[^\s"():;,]+/g, (word) => (/\d/.test(word) ? '…' : word))
