import { CommandRejected } from '../../calls/errors.ts'
import { isTraceParent } from '../../log/envelope.ts'
import { base32, keyedCommand } from '../../log/ids.ts'
import { wellFormed } from '../../log/well-formed.ts'
import type { RuntimePorts, SecretBoundary } from '../../ports/runtime.ts'
import type { AgentAsking } from './mailbox.ts'
import type { Request } from './types.ts'

/** Headers are never erased, so a correlation id must be a short name instead of text. */
const CORRELATION = /^\P{Cc}{1,128}$/u

function correlationOf(id: string): string {
  if (CORRELATION.test(id)) return id
  const message = 'correlationId: expected 1 to 128 characters and no control characters; it is kept for ever'
  throw new CommandRejected('CORRELATION_ID_REFUSED', message)
}

/**
 * The requester as recorded in headers, without secrets. An Idempotency-Key and its request (`asked`) are recorded only
 * as hashes. An invalid trace context is dropped, as W3C requires. Throws CommandRejected CORRELATION_ID_REFUSED.
 */
export function requesterOf(
  secrets: SecretBoundary,
  { log, random }: Pick<RuntimePorts, 'log' | 'random'>,
  request: Request,
  asked: unknown,
): AgentAsking {
  const { by, key, trace } = request
  const commandId = key === undefined ? base32(random.bytes(16)) : keyedCommand(log.logId, key, asked)
  const hidden = (text: string) => secrets.text(wellFormed(text))
  const named =
    request.correlationId === undefined ? {} : { correlationId: hidden(correlationOf(request.correlationId)) }
  const traced = trace !== undefined && isTraceParent(trace) && hidden(trace) === trace
  return { by: { ...by, id: hidden(by.id) }, commandId, ...named, ...(traced ? { trace } : {}) }
}
