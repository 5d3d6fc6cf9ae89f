import { take } from '../../http/answers.ts'
import { OwnerError } from '../../process/owner/backend.ts'
import type { Client } from '../client.ts'
import { allStreams } from '../follow/pages.ts'
import { bad, type Finding, message, ok } from './finding.ts'

/** The time limit of the sample, in ms. */
const BUDGET_MS = 1_500
/** The sample skips streams with at least this many events. */
const MAX_EVENTS = 2_000
/** The most stream names to draw the sample from. */
const MAX_NAMES = 5_000

const TODO = '"rebuild --accept" makes the tables again; find out who changed them, then run "verify"'

/**
 * Compares the rows of a random sample of streams with their events, as `verify` does for all. Empty if there are no
 * streams.
 */
export async function checkRows(connect: () => Promise<Client>): Promise<Finding[]> {
  try {
    const client = await connect()
    const names: string[] = []
    for await (const { stream, revision } of allStreams(client)) {
      if (revision < MAX_EVENTS) names.push(stream)
      if (names.length === MAX_NAMES) break
    }
    const until = performance.now() + BUDGET_MS
    let compared = 0
    for (const stream of shuffled(names)) {
      if (performance.now() > until) break
      const { problems } = await take(client.v1.streams[':stream'].verify.$get({ param: { stream } }))
      const [altered] = problems.filter(({ code }) => code === 'TABLE')
      if (altered !== undefined) return [bad('broken', 'rows', `${stream}: ${altered.message}`, TODO)]
      compared += 1
    }
    if (compared === 0) return []
    const of = `${compared} of ${names.length} ${names.length === 1 ? 'stream' : 'streams'}`
    return [ok('rows', `${of} compared with the log; "verify" compares all`)]
  } catch (error) {
    // The check of the log reports why it does not open.
    if (error instanceof OwnerError) return []
    return [bad('warning', 'rows', message(error), 'the sample could not be compared; run "verify"')]
  }
}

/** The names in random order (Fisher-Yates). */
function shuffled(names: readonly string[]): string[] {
  const all = [...names]
  for (let i = all.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1))
    ;[all[i], all[j]] = [all[j]!, all[i]!]
  }
  return all
}
