import { asProblem } from '../problem.ts'

/** An error for whoever runs this process: where it is known what to do, that; else where it happened. */
export const told = (error: unknown): string =>
  asProblem(error)?.message ?? (error instanceof Error ? (error.stack ?? error.message) : String(error))
