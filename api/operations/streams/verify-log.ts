import type { z } from 'zod'
import type { Services } from '../services.ts'
import { alteredText } from './prove-stream.ts'
import type { VerifiedLog } from './schemas.ts'

const PAGE = 500

/**
 * Compares the streams of the log with those in the tables, and searches for rows of unlisted streams. Does not verify
 * the streams themselves.
 */
export async function verifyLog(s: Pick<Services, 'log' | 'read'>): Promise<z.infer<typeof VerifiedLog>> {
  await s.read.current()
  const listed = new Set<string>()
  for (let after: string | undefined; ; ) {
    const { value } = await s.read.streams({ limit: PAGE, ...(after === undefined ? {} : { after }) })
    for (const { stream } of value) listed.add(stream)
    after = value.at(-1)?.stream
    if (value.length < PAGE) break
  }
  const parked = new Set((await s.read.parked()).map(({ stream }) => stream))
  const altered = [...(await s.read.strays())]
  let streams = 0
  for await (const names of s.log.streams('')) {
    streams += names.length
    for (const stream of names)
      if (!listed.has(stream) && !parked.has(stream)) altered.push(...(await s.read.altered(stream)))
  }
  const problems = altered.map((row) => ({ code: 'TABLE' as const, message: alteredText(row) }))
  return { ok: problems.length === 0, streams, problems }
}
