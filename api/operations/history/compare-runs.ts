import type { z } from 'zod'
import { compareRunHistories } from '../../../domain/agent/runtime/history/compare.ts'
import { mustBeRun } from '../runs/run-of-agent.ts'
import type { Services } from '../services.ts'
import type { CompareQuery, RunComparison } from './compare-schemas.ts'

/** Compares two runs, and returns a page of their places. Rejects with 404 if one of them is unknown. */
export async function compareRuns(
  s: Pick<Services, 'log' | 'blobs'>,
  runId: string,
  { with: other, offset, limit }: z.output<typeof CompareQuery>,
): Promise<z.infer<typeof RunComparison>> {
  for (const id of [runId, other]) await mustBeRun(s, id)
  const { places, ...found } = await compareRunHistories(s, runId, other)
  return { a: runId, b: other, ...found, total: places.length, places: places.slice(offset, offset + limit) }
}
