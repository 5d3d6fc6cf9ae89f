import type { Services } from '../services.ts'
import { bad, type Finding, ok } from './finding.ts'

const REMEDY = 'make the collector of "telemetry" in the settings answer; nothing is lost while it does not'

/** Whether spans arrive at the collector of the settings. Empty if the settings name none. */
export async function checkTelemetry({ telemetry, consumers }: Services): Promise<Finding[]> {
  const collector = await telemetry.state()
  if (collector === null) return []
  const { target, consumer, sentAt, failure } = collector
  const lag = (await consumers.list()).find(({ name }) => name === consumer)?.lag ?? 'no'
  const found = `${target}: ${sentAt === null ? 'no spans sent yet' : `last spans ${sentAt}`}, ${lag} events to handle`
  return [
    failure === null ? ok('telemetry', found) : bad('warning', 'telemetry', `${found}; ${failure.message}`, REMEDY),
  ]
}
