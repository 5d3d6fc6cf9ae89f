import type { Edit } from '../mutations/edits.ts'
import type { Mutation } from '../mutations/mutation.ts'

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
/** A fault in the function, method or constant `name`: `Class.method` where needed, `function:case` in a `switch`. */
export const fault = (file: string, name: string, edit: Edit): Mutation => ({ file, name, edit })
