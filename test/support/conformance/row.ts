import type { Mutation } from '../mutation.ts'

/** One MUST of seed 000: who holds it, and a fault that its tests must catch. */
export interface Row {
  readonly must: string
  readonly says: string
  readonly test: string
  /** Part of the names of the tests meant; all of the file where absent. */
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
