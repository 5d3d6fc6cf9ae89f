import { take } from '../../http/answers.ts'
import { OwnerError } from '../../process/owner/backend.ts'
import type { Client } from '../client.ts'
import { bad, type Finding, message, ok } from './finding.ts'

/** The retention, and whether the log can obey it. Empty if none is set. */
export async function checkRetention(connect: () => Promise<Client>): Promise<Finding[]> {
  try {
    const { retention, erases } = await take((await connect()).v1.retention.$get({}))
    const set = retention.filter(({ days }) => days !== null)
    if (set.length === 0) return []
    const found = set.map(({ of, days }) => `${of}: ${days} days`).join(', ')
    if (erases) return [ok('retention', found)]
    const todo = 'erase in the event store itself, or unset it: "keepup retention set <subject> never"'
    return [bad('warning', 'retention', `${found}; but an event store on servers cannot empty bodies`, todo)]
  } catch (error) {
    // The check of the log reports why it does not open.
    if (error instanceof OwnerError) return []
    return [bad('warning', 'retention', message(error), 'do what the message says')]
  }
}
