import type { Budget, Price } from '../tree/spec.ts'

/** The limits of a run, and its prices. */
export interface Terms {
  readonly budget?: Budget
  /** The price of the requested model. */
  readonly price?: Price
}
