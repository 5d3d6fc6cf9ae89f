import { NO_STREAM } from '@eventstore/db-client'
import { encode, storedStreamName } from '../../../adapters/eventstore/codec.ts'
import { type Figure, least, most, ms, rate } from '../figure.ts'
import { median, Pairs, timed } from '../measure.ts'
import type { Place } from './place.ts'
import { type Append, eventsOf, recordRun } from './recorded.ts'

// Appends through the adapter against the bare client's of the same bytes, in the same process.

const STREAMS = 32

type Bare = (append: Append) => Promise<unknown>

function bareOf({ bare }: Place, namespace: string): Bare {
  return ({ stream, expected, batch }) =>
    bare.appendToStream(storedStreamName(namespace, stream), batch.map(encode), {
      expectedRevision: expected < 0 ? NO_STREAM : BigInt(expected),
    })
}

async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now()
  await work()
  return performance.now() - from
}

/** One stream: append by append, ours and the bare client's in turn. */
export async function oneStream(place: Place): Promise<Figure[]> {
  const log = await place.open()
  const bare = bareOf(place, place.pair.fresh().KEEPUP_NAMESPACE!)
  const appends = await recordRun(place.quick ? 100 : 500)
  const [ours, floor]: [number[], number[]] = [[], []]
  for (const [index, append] of appends.entries()) {
    const mine = () => elapsed(() => log.append(append.stream, append.expected, append.batch))
    const its = () => elapsed(() => bare(append))
    const [first, second] = index % 2 === 0 ? [mine, its] : [its, mine]
    const [a, b] = [await first(), await second()]
    if (index < 20) continue
    ours.push(index % 2 === 0 ? a : b)
    floor.push(index % 2 === 0 ? b : a)
  }
  const added = median(ours.map((one, i) => one - floor[i]!))
  return [
    {
      name: 'append, one stream, p50',
      ours: ms(median(ours)),
      floor: ms(median(floor)),
      value: added,
      goal: most(0.3, ' ms more'),
    },
  ]
}

async function throughput(runs: readonly Append[][], append: (append: Append) => Promise<unknown>): Promise<void> {
  await Promise.all(
    runs.map(async (appends) => {
      for (const one of appends) await append(one)
    }),
  )
}

/** Many streams at once, each of which waits for its own appends only. */
export async function manyStreams(place: Place): Promise<Figure[]> {
  const runs: Append[][] = []
  while (runs.length < STREAMS) runs.push(await recordRun(place.quick ? 10 : 30))
  const pairs = new Pairs()
  for (let round = 0; round <= (place.quick ? 2 : 9); round++) {
    const log = await place.open()
    const bare = bareOf(place, place.pair.fresh().KEEPUP_NAMESPACE!)
    const ours = () => throughput(runs, (one) => log.append(one.stream, one.expected, one.batch))
    const floor = () => throughput(runs, bare)
    const [first, second] = round % 2 === 0 ? [ours, floor] : [floor, ours]
    const [a, b] = [await timed(first), await timed(second)]
    if (round > 0) pairs.add(round % 2 === 0 ? a : b, round % 2 === 0 ? b : a)
  }
  const { ours, floor, ratio } = pairs.of('ms')
  const events = runs.reduce((sum, appends) => sum + eventsOf(appends), 0) * 1000
  return [
    {
      name: `append, ${STREAMS} streams at once`,
      ours: rate(events / ours, 'ev'),
      floor: rate(events / floor, 'ev'),
      value: 1 / ratio,
      goal: least(0.95, ' ×'),
    },
  ]
}
