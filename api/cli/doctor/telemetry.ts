import { take } from '../../http/answers.ts'
import { OwnerError } from '../../process/owner/backend.ts'
import type { Client } from '../client.ts'
import { bad, type Finding, message, ok } from './finding.ts'

/** Whether spans arrive at the collector of the settings. */
export async function checkTelemetry(connect: () => Promise<Client>): Promise<Finding[]> {
  try {
    const client = await connect()
    const { collector } = await take(client.v1.telemetry.$get({}))
    if (collector === null) return []
    const { target, consumer, sentAt, failure } = collector
    const { consumers } = await take(client.v1.consumers.$get({}))
    const lag = consumers.find(({ name }) => name === consumer)?.lag ?? 'no'
    const found = `${target}: ${sentAt === null ? 'no spans sent yet' : `last spans ${sentAt}`}, ${lag} events to handle`
    if (failure === null) return [ok('telemetry', found)]
    const remedy = 'make the collector of "telemetry" in the settings answer; nothing is lost while it does not'
    return [bad('warning', 'telemetry', `${found}; ${failure.message}`, remedy)]
  } catch (error) {
    // The check of the log reports why it does not open.
    if (error instanceof OwnerError) return []
    return [bad('warning', 'telemetry', message(error), 'do what the message says')]
  }
}
