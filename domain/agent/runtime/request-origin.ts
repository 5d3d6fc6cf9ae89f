import { CommandRejected } from '../../calls/errors.ts'
import { isTraceParent } from '../../log/envelope.ts'
import { base32, keyedCommand } from '../../log/ids.ts'
import { wellFormed } from '../../log/well-formed.ts'
import type { RuntimePorts, SecretBoundary } from '../../ports/runtime.ts'
import type { AgentAsking } from './mailbox.ts'
import type { Request } from './types.ts'

/** A header is never erased: what stands in it is a name, and no place for words. */
const CORRELATION = /^\P{Cc}{1,128}$/u

function correlationOf(id: string): string {
  if (CORRELATION.test(id)) return id
  const message = 'correlationId: expected 1 to 128 characters and no control characters; it is kept for ever'
  throw new CommandRejected('CORRELATION_ID_REFUSED', message)
}

/**
 * The asking person or program, as headers carry it: without secrets, of an Idempotency-Key and what is `asked` for under
 * it hashes alone. A trace context that is none is left out, as W3C asks. Throws CommandRejected `CORRELATION_ID_REFUSED`.
 */
export function askingOf(
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
