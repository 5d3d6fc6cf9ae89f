import { fileURLToPath } from 'node:url'

// The files for processes of tests: the bundle that this run built from the sources, or the sources themselves if it
// built none, for example with a mutation.

const source = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url))
const made = process.env.TEST_PROGRAM
/** The file to start for a module that the bundle has as an entry. */
export const programFile = (path: string): string =>
  made === undefined ? source(path) : `${made}/${path.replace(/\.ts$/, '.js')}`

/** The program as started in a clone; also its name in its own output. */
export const ENTRY = source('api/cli/keepup.js')
/** The file to start for the program. */
export const PROGRAM = programFile('api/cli/keepup.js')
/** The program that kills itself at the point in its environment. */
export const CRASHING = programFile('test/support/faults/crashing.ts')
