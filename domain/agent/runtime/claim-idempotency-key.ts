import { LogError } from '../../log/errors.ts'
import { keyStream, sealKeyClaim } from '../../log/idempotency-claim.ts'
import { keyedCommand } from '../../log/ids.ts'
import type { RuntimePorts } from '../../ports/runtime.ts'
import { append } from '../../stream/runtime/append.ts'
import { requestRetry } from '../../stream/runtime/append-retry.ts'
import { isRepeatedRequest } from './refusals.ts'

/**
 * Binds an Idempotency-Key to a request, once per log; of two simultaneous requests the log accepts one. Resolves if
 * the key is bound to this request, now or before. Rejects with IDEMPOTENCY_KEY_REUSED if it is bound to another
 * request. `asked`: the content of the request and its run, as JSON.
 */
export async function claimKey(
  ports: Pick<RuntimePorts, 'log' | 'clock' | 'random' | 'requestLimitMs'>,
  key: string,
  asked: unknown,
): Promise<void> {
  const { log, clock, random } = ports
  const retry = requestRetry(ports)
  const commandId = keyedCommand(log.logId, key, asked)
  const stream = keyStream(commandId)
  for (;;) {
    for await (const [claim] of log.read(stream, { limit: 1, bodies: false }))
      if (claim !== undefined && isRepeatedRequest(claim.header.commandId, commandId)) return
    const salt = random.bytes(16)
    const now = new Date(Math.max(clock.now(), log.floor())).toISOString()
    try {
      await retry.once(() => append(ports, stream, -1, [sealKeyClaim(commandId, salt, now)], retry))
      return
    } catch (error) {
      // Another request was faster, or the log already contains a later timestamp.
      if (!(error instanceof LogError && error.code === 'CONFLICT')) throw error
    }
  }
}
