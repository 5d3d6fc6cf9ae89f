import type { z } from 'zod'
import { take } from '../../http/answers.ts'
import type { ComparedPlace, RunComparison } from '../../operations/history/compare-schemas.ts'
import { api } from '../client/api.ts'

export type Compared = z.infer<typeof RunComparison>
export type ComparedPoint = z.infer<typeof ComparedPlace>

const PART = 2_000
/** The most places shown of a long run. */
const MOST_PLACES = 20_000

/** Compares two runs at all their places. */
export async function compare(a: string, b: string): Promise<Compared> {
  const part = (offset: number): Promise<Compared> => {
    const query: Record<'with' | 'offset' | 'limit', string> = {
      with: b,
      offset: String(offset),
      limit: String(PART),
    }
    return take(api.v1.runs[':id'].compare.$get({ param: { id: a }, query }))
  }
  const first = await part(0)
  const places = [...first.places]
  while (places.length < Math.min(first.total, MOST_PLACES)) {
    const more = (await part(places.length)).places
    if (more.length === 0) break
    places.push(...more)
  }
  return { ...first, places }
}

/** `=` equal, `±` different, `-` only in the first run, `+` only in the second. */
export const signOf = ({ same, a, b }: ComparedPoint): string =>
  same ? '=' : a === null ? '+' : b === null ? '-' : '±'

export const placeName = ({ path }: Pick<ComparedPoint, 'path'>): string => path.join(' / ')

/** The next differing place after or before `from`. -1: none. */
export function nextDifference(places: readonly ComparedPoint[], from: number, by: 1 | -1): number {
  for (let i = from + by; i >= 0 && i < places.length; i += by) if (!places[i]!.same) return i
  return -1
}
