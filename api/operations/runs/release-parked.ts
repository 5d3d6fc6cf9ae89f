import { ProjectionError } from '../../../projections/engine/errors.ts'
import { Problem } from '../problem.ts'
import type { Services } from '../services.ts'

/** The parked streams to read again: one, those of a run, or all. */
interface Which {
  readonly stream?: string | undefined
  readonly runId?: string | undefined
}

/**
 * Reads parked streams again one by one. Returns how many are no longer parked. Rejects with 409 `TABLES_NOT_PARKED` if
 * the stream or the run has none.
 */
export async function release({ read }: Pick<Services, 'read'>, { stream, runId }: Which): Promise<number> {
  if (stream !== undefined) return (await read.release(stream)) ? 1 : 0
  const parked = await read.parked(runId)
  if (runId !== undefined && parked.length === 0)
    throw new Problem('TABLES_NOT_PARKED', `no stream of ${runId} is parked: there is nothing to release`)
  let released = 0
  for (const { stream } of parked) {
    // Another process may have released the stream already.
    const again = read.release(stream).catch((error: unknown) => {
      if (error instanceof ProjectionError && error.code === 'NOT_PARKED') return false
      throw error
    })
    if (await again) released++
  }
  return released
}
