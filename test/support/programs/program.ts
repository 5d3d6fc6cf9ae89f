import { fileURLToPath } from 'node:url'

// The files for processes of tests: the bundle that this run built from the sources, or the sources themselves if it
// built none, for example with a mutation.

const source = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url))
const made = process.env.TEST_PROGRAM
const file = (path: string): string => (made === undefined ? source(path) : `${made}/${path.replace(/\.ts$/, '.js')}`)

/** The program as started in a clone; also its name in its own output. */
export const ENTRY = source('api/cli/keepup.js')
/** The file to start for the program. */
export const PROGRAM = file('api/cli/keepup.js')
/** The program that kills itself at the point in its environment. */
export const CRASHING = file('test/support/faults/crashing.ts')
