/**
 * The members of an aggregate that owes no effects, so that no driver wakes it. Its streams are short, or its requests are
 * harmless when repeated: a repeated one is found by the command ids in the headers, and the state remembers none.
 */
export const UNDRIVEN = {
  wakeAt: () => null,
  commands: () => [],
  remembered: Number.POSITIVE_INFINITY,
} as const
