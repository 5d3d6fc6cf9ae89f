/** One line of the table: what was measured, the goal of DESIGN, and the floor measured in the same run. */
export interface Figure {
  readonly name: string
  readonly ours: string
  readonly floor: string
  /** The subject of the goal, in its unit. */
  readonly value: number
  /** Null: nothing is promised. */
  readonly goal: Goal | null
  readonly note?: string
}

/** `most`: at most `bound`; `least`: at least. */
export interface Goal {
  readonly kind: 'most' | 'least'
  readonly bound: number
  /** With a space before it. */
  readonly unit: string
}

export const most = (bound: number, unit: string): Goal => ({ kind: 'most', bound, unit })
export const least = (bound: number, unit: string): Goal => ({ kind: 'least', bound, unit })

/** As DESIGN says it, e.g. `≤ 2 ×`. */
export const goalText = ({ kind, bound, unit }: Goal): string =>
  `${kind === 'most' ? '≤' : '≥'} ${number(bound)}${unit}`

/** The figure in its goal's unit. */
export const valueText = ({ value, goal }: Figure): string => `${number(value)}${goal?.unit ?? ' ×'}`

export function isMet({ value, goal }: Figure): boolean | null {
  if (goal === null) return null
  return goal.kind === 'most' ? value <= goal.bound : value >= goal.bound
}

/** Three significant digits, thousands apart. */
export function number(value: number): string {
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en-US')
  return Number(value.toPrecision(3)).toString()
}

export const ms = (value: number): string => `${number(value)} ms`
export const micros = (value: number): string => `${number(value)} µs`
export const rate = (value: number, what: string): string => `${number(value)} ${what}/s`
export const megabytes = (bytes: number): string => `${number(bytes / 1e6)} MB`
