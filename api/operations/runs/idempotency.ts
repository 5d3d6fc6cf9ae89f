import { createHmac } from 'node:crypto'
import { isRepeated } from '../../../domain/agent/runtime/refusals.ts'
import { agentStream, base32, externalStream, keyedCommand } from '../../../domain/log/ids.ts'
import type { Services } from '../services.ts'

// Repeated requests are recognised: Idempotency-Keys become ids that the log remembers. One key is bound to one
// request in the whole log (domain/agent/runtime/claim-key.ts); what the request does is found again by an id made of the key.

/** A run id that the same key gives again, also after a restart. `scope`: what is asked for. */
export const keyedRunId = (
  { log }: { readonly log: Pick<Services['log'], 'logId'> },
  scope: string,
  key: string,
): string => base32(createHmac('sha256', log.logId).update(`${scope}\n${key}`).digest().subarray(0, 14))

/** Is the run there already? Rejects where the key came with another request than `asked` when it was made. */
export async function madeBefore(
  { log }: Pick<Services, 'log'>,
  runId: string,
  key: string,
  asked: unknown,
): Promise<boolean> {
  for (const stream of [agentStream(runId), externalStream(runId)])
    for await (const [first] of log.read(stream, { limit: 1, bodies: false }))
      if (first !== undefined) return isRepeated(first.header.commandId, keyedCommand(log.logId, key, asked))
  return false
}

/** How long an answer waits for the tables, ms. */
const SHOWN_MS = 2_000

/**
 * Waits until the tables show what was just recorded, so that the next look sees it. Only for a moment: it is
 * recorded, whatever the tables do.
 */
export async function shown({ read }: Pick<Services, 'read'>): Promise<void> {
  await read.caughtUp(SHOWN_MS).catch(() => undefined)
}
