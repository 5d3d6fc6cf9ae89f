import type { Cost } from '../../operations/numbers/cost-schemas.ts'
import type { Measured, Numbers } from '../../operations/numbers/schemas.ts'

/** The figures of one UTC day. */
export interface Day {
  readonly day: string
  readonly nanoDollars: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly started: number
  readonly completed: number
  readonly failed: number
  readonly models: Measured | null
  readonly tools: Measured | null
}

/** The most models with separate colours. */
const MODELS = 5
const OTHERS = 'other models'

/** The cost of a model on each of some days, in dollars. */
export interface ModelCost {
  readonly model: string
  readonly dollars: readonly number[]
}

/** The day and the model of a row of the cost by `day_model`, whose name is a day, a space and a model. */
export function dayAndModel(name: string): readonly [day: string, model: string] {
  const [, day = '', model = ''] = /^(\S*) (.*)$/s.exec(name) ?? []
  return [day, model]
}

/** The costs by day of the dearest models, and of all others together. `rows`: by `day_model`. */
export function modelsByDay(rows: Cost['rows'], days: readonly { readonly day: string }[]): ModelCost[] {
  const places = new Map(days.map(({ day }, nth) => [day, nth]))
  const costs = new Map<string, number[]>()
  for (const { name, nanoDollars } of rows) {
    const [day, model] = dayAndModel(name)
    const place = places.get(day)
    if (place === undefined) continue
    if (!costs.has(model))
      costs.set(
        model,
        days.map(() => 0),
      )
    costs.get(model)![place]! += (nanoDollars ?? 0) / 1e9
  }
  const sum = (of: readonly number[]) => of.reduce((all, one) => all + one, 0)
  const dearest = [...costs]
    .map(([model, dollars]) => ({ model, dollars }))
    .sort((a, b) => sum(b.dollars) - sum(a.dollars))
  if (dearest.length <= MODELS + 1) return dearest
  const others = dearest.slice(MODELS).map(({ dollars }) => dollars)
  return [
    ...dearest.slice(0, MODELS),
    { model: OTHERS, dollars: days.map((_, nth) => sum(others.map((one) => one[nth]!))) },
  ]
}

/** All days from the first to the last with figures, without gaps; at most the last `most` days. */
export function daysOf(
  cost: Pick<Cost, 'rows'>,
  numbers: Pick<Numbers, 'modelDays' | 'toolDays' | 'runDays'>,
  most = 400,
): Day[] {
  const bills = new Map(cost.rows.map((row) => [row.name, row]))
  const models = new Map(numbers.modelDays.map((row) => [row.name, row]))
  const tools = new Map(numbers.toolDays.map((row) => [row.name, row]))
  const runs = new Map(numbers.runDays.map((row) => [row.day, row]))
  const known = [bills, models, tools, runs]
    .flatMap((all) => [...all.keys()])
    .filter((day) => /^\d{4}-\d\d-\d\d$/.test(day))
  known.sort()
  const [first, last] = [Date.parse(known[0] ?? ''), Date.parse(known.at(-1) ?? '')]
  if (Number.isNaN(first)) return []
  const days: Day[] = []
  for (let at = Math.max(first, last - (most - 1) * DAY); at <= last; at += DAY) {
    const day = new Date(at).toISOString().slice(0, 10)
    const bill = bills.get(day)
    days.push({
      day,
      nanoDollars: bill?.nanoDollars ?? 0,
      inputTokens: (bill?.inputTokens ?? 0) + (bill?.cacheReadTokens ?? 0) + (bill?.cacheWriteTokens ?? 0),
      outputTokens: bill?.outputTokens ?? 0,
      started: runs.get(day)?.started ?? 0,
      completed: runs.get(day)?.completed ?? 0,
      failed: runs.get(day)?.failed ?? 0,
      models: models.get(day) ?? null,
      tools: tools.get(day) ?? null,
    })
  }
  return days
}

const DAY = 86_400_000
