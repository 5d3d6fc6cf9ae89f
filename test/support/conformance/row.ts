import type { Edit } from '../edits.ts'
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
/** A fault in the function, method or constant `name`: `Class.method` where needed, `function:case` in a `switch`. */
export const fault = (file: string, name: string, edit: Edit): Mutation => ({ file, name, edit })
