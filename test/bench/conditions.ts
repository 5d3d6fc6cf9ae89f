import { availableParallelism, loadavg } from 'node:os'

// What a figure depends on beside the program: times of a busy machine are times of a busy machine.

const PROGRAM = process.execArgv.some((flag) => flag.endsWith('compiled.ts')) ? 'the compiled package' : 'from sources'

const load = () => loadavg()[0]!.toFixed(1)
const before = load()

/** One line, once everything was measured. `program`: what was measured; default: what this process runs. */
export const conditions = (program = PROGRAM): string =>
  `${program}, Node ${process.versions.node}, ` +
  `${availableParallelism()} cores, load of the machine ${before} before and ${load()} after\n`
