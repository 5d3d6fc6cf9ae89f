import type { Mutation } from '../mutation.ts'

/** One MUST of seed 000, its tests, and a fault that they must catch. */
export interface Row {
  readonly must: string
  readonly says: string
  readonly test: string
  /** Selects tests by a part of their names; absent: all tests of the file. */
  readonly name?: string
  readonly fault: Mutation
}

export const behaviour = (name: string) => `test/behaviour/${name}.test.ts`
export const law = (name: string) => `test/laws/${name}.test.ts`
export const fault = (file: string, search: string, replace: string): Mutation => ({
  file: `domain/${file}`,
  search,
  replace,
})
