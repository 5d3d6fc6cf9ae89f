/**
 * Members for an aggregate that has no effects. No driver wakes its streams. Its state keeps no command ids: the
 * runtime finds a repeated request by the command id in a header, or the repetition is harmless.
 */
export const UNDRIVEN = {
  wakeAt: () => null,
  commands: () => [],
  remembered: Number.POSITIVE_INFINITY,
} as const
