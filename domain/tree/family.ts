import type { Amounts, Report } from './events.ts'

// An agent's knowledge about its parent and children. Ended children are kept only as sums, to keep the state small.

export interface Child {
  readonly toolCallId: string
  /** Revision of its birth in this stream. */
  readonly since: number
  /** The first grant plus all additions. */
  readonly grant: Nullable
  readonly cancelled: boolean
  /** The parent continues without it. */
  readonly unreached: boolean
  /** An external agent, which can be cancelled but not paused. */
  readonly external?: true
}

/** Amounts per kind; null: no limit of this kind. */
export interface Nullable {
  readonly tokens: number | null
  readonly nanoDollars: number | null
  readonly agents: number
}

/** A request for budget that the parent has not answered: for a turn, for a call, or for a child's request. */
export type BudgetRequest = { readonly request: number } & (
  | { readonly for: 'turn' }
  | { readonly for: 'call'; readonly toolCallId: string }
  | { readonly for: 'child'; readonly childId: string; readonly childRequest: number }
)

export interface ChildAsks {
  readonly childId: string
  readonly request: number
  readonly want: Amounts
}

/** The most that the late answer to an abandoned model attempt may add to the bill. */
export interface Exposure {
  readonly turn: number
  readonly attempt: number
  readonly tokens: number
  readonly nanoDollars: number
}

export interface Family {
  /** Children whose end is not known, by id. */
  readonly children: Readonly<Record<string, Child>>
  /** Sums over the reports of children. */
  readonly settled: Report
  readonly received: Amounts
  /** The free budget when the model answered; the shares of the open turn's calls are parts of it. */
  readonly base: Nullable | null
  readonly asked: readonly BudgetRequest[]
  readonly asks: readonly ChildAsks[]
  /** The parent refused budget for a turn. */
  readonly refused: boolean
  readonly exposure: readonly Exposure[]
  /** Usage reported to the parent so far; null: the end was not reported. */
  readonly reported: Report | null
}

export const NO_AMOUNTS: Amounts = { tokens: 0, nanoDollars: 0, agents: 0 }
export const NO_REPORT: Report = {
  spent: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, nanoDollars: 0, agents: 0 },
  uncertain: NO_AMOUNTS,
}

export const NO_FAMILY: Family = {
  children: {},
  settled: NO_REPORT,
  received: NO_AMOUNTS,
  base: null,
  asked: [],
  asks: [],
  refused: false,
  exposure: [],
  reported: null,
}

const KINDS = ['tokens', 'nanoDollars', 'agents'] as const
export type BudgetKind = (typeof KINDS)[number]

export const eachKind = <T>(of: (kind: BudgetKind) => T): { readonly [K in BudgetKind]: T } => ({
  tokens: of('tokens'),
  nanoDollars: of('nanoDollars'),
  agents: of('agents'),
})

export const isNothing = (amounts: Amounts): boolean => KINDS.every((kind) => amounts[kind] === 0)

/** `sign` -1 subtracts. */
export const addReport = (a: Report, b: Report, sign: 1 | -1 = 1): Report => ({
  spent: {
    input: a.spent.input + sign * b.spent.input,
    output: a.spent.output + sign * b.spent.output,
    cacheRead: a.spent.cacheRead + sign * b.spent.cacheRead,
    cacheWrite: a.spent.cacheWrite + sign * b.spent.cacheWrite,
    nanoDollars: a.spent.nanoDollars + sign * b.spent.nanoDollars,
    agents: a.spent.agents + sign * b.spent.agents,
  },
  uncertain: eachKind((kind) => a.uncertain[kind] + sign * b.uncertain[kind]),
})

export const isEmptyReport = ({ spent, uncertain }: Report): boolean =>
  Object.values(spent).every((n) => n === 0) && Object.values(uncertain).every((n) => n === 0)

/** Whether the agent waits for budget from its parent before it can start a turn. */
export const asksForTurn = ({ family }: { readonly family: Family }): boolean =>
  family.asked.some((one) => one.for === 'turn')

/** The stream of a child cannot be read. */
export interface LoseChild {
  readonly kind: 'child_lost'
  readonly childId: string
  readonly reason: string
}
