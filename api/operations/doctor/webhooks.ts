import type { Services } from '../services.ts'
import { bad, type Finding, ok } from './finding.ts'

/** Whether the notices of each webhook arrive. */
export async function checkWebhooks({ webhooks }: Services): Promise<Finding[]> {
  return (await webhooks.list()).map(({ name, behind, deliveredAt, failure, stopped }) => {
    const last = deliveredAt === null ? 'nothing delivered yet' : `last delivery ${deliveredAt}`
    const found = `${name}: ${last}, ${behind ?? 'no'} events to handle`
    const fault = stopped ?? failure
    if (fault === null) return ok('webhook', found)
    const why = stopped === null ? fault.message : `stopped, ${fault.message}`
    return bad('warning', 'webhook', `${found}; ${why}`, `"keepup webhooks test ${name}" tries it again`)
  })
}
