import type { z } from 'zod'
import { omitUndefined } from '../omit-undefined.ts'
import type { Services } from '../services.ts'
import type { StreamList, StreamsQuery } from './schemas.ts'

/** Streams in the order of their names. The tables must be caught up. */
export async function listStreams(
  s: Pick<Services, 'read'>,
  { after, prefix, limit }: z.output<typeof StreamsQuery>,
): Promise<StreamList> {
  const { position, value } = await s.read.streams(omitUndefined({ after, prefix, limit: limit + 1 }))
  const streams = value.slice(0, limit)
  return { position, streams, next: value.length > limit ? streams.at(-1)!.stream : null }
}
