import { availableParallelism, loadavg } from 'node:os'

// What a figure depends on beside the program: times of a busy machine are times of a busy machine.

const compiled = process.execArgv.some((flag) => flag.endsWith('compiled.ts'))

const load = () => loadavg()[0]!.toFixed(1)
const before = load()

/** One line, once everything was measured. */
export const conditions = (): string =>
  `${compiled ? 'the compiled package' : 'from sources'}, Node ${process.versions.node}, ` +
  `${availableParallelism()} cores, load of the machine ${before} before and ${load()} after\n`
