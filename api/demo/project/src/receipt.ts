export interface Line {
  readonly name: string
  /** Cents for one piece. */
  readonly price: number
  readonly quantity: number
  /** Percent. */
  readonly tax: number
}

/** Tax of one line in cents. */
export function taxOf(line: Line): number {
  return Math.floor((line.price * line.quantity * line.tax) / 100)
}

/** What is to be paid, in cents. */
export function total(lines: readonly Line[]): number {
  let sum = 0
  for (const line of lines) sum += line.price * line.quantity + taxOf(line)
  return sum
}

/** Cents as dollars: `$12.30`. */
export function format(cents: number): string {
  return `$${Math.trunc(cents / 100)}.${cents % 100}`
}
