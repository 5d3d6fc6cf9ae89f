import { z } from 'zod'
import { AGGREGATES } from '../../../domain/kinds.ts'
import { LOG_META } from '../../../domain/log/ids.ts'
import { kindOf } from '../../../domain/log/owner.ts'
import { type EventFilter, eventTypes } from '../events/filter.ts'
import { omitUndefined } from '../omit-undefined.ts'
import { Id } from '../schemas.ts'

/** The most values of one member of a filter. */
const MOST = 100

const some = <T extends z.ZodType>(value: T) => z.array(value).min(1).max(MOST).readonly().optional()

/** The kinds of all streams of a log. */
export const streamKinds = (): string[] => [...AGGREGATES.keys(), kindOf(LOG_META)]

/** An event must match each given member, which means one of its values. Absent members: every event matches. */
export const ConsumerFilter = z
  .strictObject({
    types: some(z.lazy(() => z.enum(eventTypes()))),
    kinds: some(z.lazy(() => z.enum(streamKinds()))).meta({ description: 'Kinds of streams, such as agent' }),
    streams: some(Id),
    runs: some(Id).meta({ description: 'Whole ids of runs, also of runs to come' }),
  })
  .meta({
    id: 'ConsumerFilter',
    description: 'Which events a consumer gets: those that match every member; absent: no condition',
  })
export type ConsumerFilter = z.output<typeof ConsumerFilter>

/** The text of a filter. Equal filters have equal texts. */
export const filterText = (filter: ConsumerFilter): string =>
  JSON.stringify(
    (['types', 'kinds', 'streams', 'runs'] as const).map(
      (member) => filter[member] && [...new Set(filter[member])].sort(),
    ),
  )

export const eventFilter = ({ types, kinds, streams, runs }: ConsumerFilter): EventFilter =>
  omitUndefined({
    types: types && new Set<string>(types),
    kinds: kinds && new Set<string>(kinds),
    streams: streams && new Set(streams),
    runs: runs && new Set(runs),
  })
