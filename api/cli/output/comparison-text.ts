import type { z } from 'zod'
import type { ComparedPlace, RunComparison } from '../../operations/history/compare-schemas.ts'
import { visible } from '../../operations/text/visible-text.ts'
import { oneLine, truncateToWidth } from './text.ts'

type Place = z.infer<typeof ComparedPlace>

const WIDTH = 2_000
const SHOWN = 40

/** The comparison of two runs as text: the first difference, and the names of later ones. */
export function comparisonLines({ a, b, common, total, first, places }: z.infer<typeof RunComparison>): string[] {
  if (first === null) return [`${a} and ${b} are the same in all ${total} things that were asked, answered and decided`]
  const later = places.filter((place) => !place.same && place.path.join() !== first.path.join())
  return [
    `the same in ${common} of ${total}; the first difference, which was ${first.kind}:`,
    `  ${pathText(first)}`,
    ...sideLines('-', a, first.a),
    ...sideLines('+', b, first.b),
    ...(later.length === 0 ? [] : ['after that also different:']),
    ...later.slice(0, SHOWN).map((place) => `  ${sign(place)} ${pathText(place)}`),
    ...(later.length > SHOWN ? [`  … and ${later.length - SHOWN} more`] : []),
  ]
}

const pathText = ({ path }: Pick<Place, 'path'>): string => oneLine(path.join(' / '))
const sign = ({ a, b }: Place): string => (a === null ? '+' : b === null ? '-' : '±')

function sideLines(sign: string, runId: string, said: Place['a']): string[] {
  if (said === null) return [`  ${sign} ${runId}: nothing`]
  const value = truncateToWidth(oneLine(visible(JSON.stringify(said.value))), WIDTH)
  return [`  ${sign} ${said.agentId}@${said.revision}: ${value}`]
}
