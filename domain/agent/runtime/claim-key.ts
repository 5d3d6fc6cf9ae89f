import { LogError } from '../../log/errors.ts'
import { keyedCommand } from '../../log/ids.ts'
import { keyStream, sealKeyClaim } from '../../log/key-claim.ts'
import type { RuntimePorts } from '../../ports/runtime.ts'
import { append } from '../../stream/runtime/append.ts'
import { requestRetry } from '../../stream/runtime/retry.ts'
import { isRepeated } from './refusals.ts'

/**
 * Binds an Idempotency-Key to a request, once in a log: of two requests that come at once the log takes one. Resolves where
 * the key is bound to this very request, by this call or before. Throws `IDEMPOTENCY_KEY_REUSED` where it is bound to
 * another. `asked`: what is asked for, and of which run, as JSON.
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
      if (claim !== undefined && isRepeated(claim.header.commandId, commandId)) return
    const salt = random.bytes(16)
    const now = new Date(Math.max(clock.now(), log.floor())).toISOString()
    try {
      await retry.once(() => append(ports, stream, -1, [sealKeyClaim(commandId, salt, now)], retry))
      return
    } catch (error) {
      // Another request was faster, or the log has gone past this time.
      if (!(error instanceof LogError && error.code === 'CONFLICT')) throw error
    }
  }
}
