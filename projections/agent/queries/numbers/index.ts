import type { Kysely } from 'kysely'
import type { Database } from '../../../engine/schema/database.ts'
import { type CallFilter, type Failures, failures, type MeasuredCalls, measured, SOURCES } from './calls.ts'
import {
  budgets,
  type Recoveries,
  type Routed,
  type RunBudget,
  type RunDay,
  recoveries,
  routed,
  runDays,
} from './runs.ts'

/** The maximum number of listed budgets. */
const BUDGETS = 200

/** The figures of a deployment: calls, failures, durations, routes, recoveries and budgets. */
export interface Figures {
  readonly tools: readonly MeasuredCalls[]
  readonly toolFailures: readonly Failures[]
  readonly models: readonly MeasuredCalls[]
  readonly modelFailures: readonly Failures[]
  /** By day (UTC). */
  readonly toolDays: readonly MeasuredCalls[]
  readonly modelDays: readonly MeasuredCalls[]
  readonly runDays: readonly RunDay[]
  readonly routes: readonly Routed[]
  readonly recoveries: Recoveries
  readonly budgets: readonly RunBudget[]
}

/** The figures of all runs or of one. Percentiles cover calls with a known duration. */
export async function numbersOf(db: Kysely<Database>, which: CallFilter): Promise<Figures> {
  return {
    tools: await measured(db, SOURCES.tools, which),
    toolFailures: await failures(db, SOURCES.tools, which),
    models: await measured(db, SOURCES.models, which),
    modelFailures: await failures(db, SOURCES.models, which),
    toolDays: await measured(db, SOURCES.toolDays, which),
    modelDays: await measured(db, SOURCES.modelDays, which),
    runDays: await runDays(db, which),
    routes: await routed(db, which),
    recoveries: await recoveries(db, which),
    budgets: await budgets(db, which, BUDGETS),
  }
}
