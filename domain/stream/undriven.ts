/**
 * The members of an aggregate without effects, so that no driver wakes its streams. The state remembers no command ids:
 * repeated requests are found by the command ids in the headers, or are harmless.
 */
export const UNDRIVEN = {
  wakeAt: () => null,
  commands: () => [],
  remembered: Number.POSITIVE_INFINITY,
} as const
