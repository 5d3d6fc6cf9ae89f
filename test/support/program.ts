import { fileURLToPath } from 'node:url'

// What processes of tests run: the bundle that this run has made of the sources, or the sources themselves where it made
// none, as in a run with a mutation.

const source = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const made = process.env.TEST_PROGRAM
const file = (path: string): string => (made === undefined ? source(path) : `${made}/${path.replace(/\.ts$/, '.js')}`)

/** The program as people call it in a clone; how it calls itself in what it says. */
export const ENTRY = source('api/cli/keepup.js')
/** The file to start for it. */
export const PROGRAM = file('api/cli/keepup.js')
/** The program that ends where its environment says. */
export const CRASHING = file('test/support/faults/crashing.ts')
