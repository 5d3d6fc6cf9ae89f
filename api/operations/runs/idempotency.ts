import { createHmac } from 'node:crypto'
import { isRepeatedRequest } from '../../../domain/agent/runtime/refusals.ts'
import { agentStream, base32, externalStream, keyedCommand } from '../../../domain/log/ids.ts'
import type { Services } from '../services.ts'

// Recognises repeated requests: ids in the log derive from Idempotency-Keys. One key belongs to one request in the
// whole log (domain/agent/runtime/claim-idempotency-key.ts). The results of the request are found by ids that derive from the key.

/** A run id that the same key always gives, also after a restart. `scope`: the kind of request. */
export const keyedRunId = (
  { log }: { readonly log: Pick<Services['log'], 'logId'> },
  scope: string,
  key: string,
): string => base32(createHmac('sha256', log.logId).update(`${scope}\n${key}`).digest().subarray(0, 14))

/** Whether the run exists already. Rejects if the key first came with a different request than `asked`. */
export async function madeBefore(
  { log }: Pick<Services, 'log'>,
  runId: string,
  key: string,
  asked: unknown,
): Promise<boolean> {
  for (const stream of [agentStream(runId), externalStream(runId)])
    for await (const [first] of log.read(stream, { limit: 1, bodies: false }))
      if (first !== undefined) return isRepeatedRequest(first.header.commandId, keyedCommand(log.logId, key, asked))
  return false
}

/** The longest time for which an answer waits for the tables, in ms. */
const SHOWN_MS = 2_000

/**
 * Waits briefly until the tables include the recorded events, so that the next read shows them. Ignores errors of the
 * tables, because the events are recorded.
 */
export async function untilShown({ read }: Pick<Services, 'read'>): Promise<void> {
  await read.caughtUp(SHOWN_MS).catch(() => undefined)
}
