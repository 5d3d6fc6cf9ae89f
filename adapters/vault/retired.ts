import type { RetiredValue } from '../../domain/ports/index.ts'

/** Replaced and removed values that stay hidden. The oldest go first. */
const MAX_RETIRED = 100

/** The retired values of a vault and one more. Each value of a name is there once. */
export const withRetired = <T extends RetiredValue>(before: readonly T[], added: T): T[] =>
  [...before.filter(({ name, value }) => name !== added.name || value !== added.value), added].slice(-MAX_RETIRED)
