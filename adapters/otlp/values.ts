/** An integer as JSON: text if a number cannot represent it exactly. */
export const jsonInteger = (value: bigint): number | string =>
  Number.isSafeInteger(Number(value)) ? Number(value) : String(value)

/** A double as JSON: text if it is not finite. */
export const jsonDouble = (value: number): number | string => (Number.isFinite(value) ? value : String(value))
