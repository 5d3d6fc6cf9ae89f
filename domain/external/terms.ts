import type { Budget, Price } from '../agent/definition/spec.ts'

/** What a run may use, and what it costs. */
export interface Terms {
  readonly budget?: Budget
  /** Of the request's model. */
  readonly price?: Price
}
