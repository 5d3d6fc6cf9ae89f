import { take } from '../../http/answers.ts'
import { OwnerError } from '../../process/owner/backend.ts'
import type { Client } from '../client.ts'
import { bad, type Finding, message, ok } from './finding.ts'

/** Whether the notices of each webhook arrive. */
export async function checkWebhooks(connect: () => Promise<Client>): Promise<Finding[]> {
  try {
    const { webhooks } = await take((await connect()).v1.webhooks.$get({}))
    return webhooks.map(({ name, behind, deliveredAt, failure, stopped }) => {
      const last = deliveredAt === null ? 'nothing delivered yet' : `last delivery ${deliveredAt}`
      const found = `${name}: ${last}, ${behind ?? 'no'} events to handle`
      const fault = stopped ?? failure
      if (fault === null) return ok('webhook', found)
      const why = stopped === null ? fault.message : `stopped, ${fault.message}`
      return bad('warning', 'webhook', `${found}; ${why}`, `"keepup webhooks test ${name}" tries it again`)
    })
  } catch (error) {
    // The check of the log reports why it does not open.
    if (error instanceof OwnerError) return []
    return [bad('warning', 'webhooks', message(error), 'do what the message says')]
  }
}
