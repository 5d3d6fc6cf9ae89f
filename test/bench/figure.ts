/** One line of the table: what was measured, the goal of DESIGN, and the floor measured in the same run. */
export interface Figure {
  readonly name: string
  readonly ours: string
  readonly floor: string
  /** What the goal is about, in its unit; null where nothing is promised. */
  readonly value: number
  readonly goal: Goal | null
  readonly note?: string
}

/** `most`: at most `bound`; `least`: at least. */
export interface Goal {
  readonly kind: 'most' | 'least'
  readonly bound: number
  /** As DESIGN says it, e.g. `≤ 2 ×`. */
  readonly text: string
}

export const most = (bound: number, unit: string): Goal => ({ kind: 'most', bound, text: `≤ ${number(bound)}${unit}` })
export const least = (bound: number, unit: string): Goal => ({
  kind: 'least',
  bound,
  text: `≥ ${number(bound)}${unit}`,
})

export function isMet({ value, goal }: Figure): boolean | null {
  if (goal === null) return null
  return goal.kind === 'most' ? value <= goal.bound : value >= goal.bound
}

/** Three significant digits, thousands apart. */
export function number(value: number): string {
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en-US')
  return Number(value.toPrecision(3)).toString()
}

export const times = (value: number): string => `${value.toFixed(2)} ×`
export const ms = (value: number): string => `${number(value)} ms`
export const micros = (value: number): string => `${number(value)} µs`
export const rate = (value: number, what: string): string => `${number(value)} ${what}/s`
export const megabytes = (bytes: number): string => `${number(bytes / 1e6)} MB`
