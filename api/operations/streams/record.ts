import { claimKey } from '../../../domain/agent/runtime/claim-key.ts'
import { hex, keyedCommand } from '../../../domain/log/ids.ts'
import type { Aggregate, StreamEvent } from '../../../domain/stream/aggregate.ts'
import type { CausedContext } from '../../../domain/stream/emitter.ts'
import type { Asker } from '../../../domain/stream/runtime/erasure/types.ts'
import type { Submitted } from '../../../domain/stream/runtime/mailbox.ts'
import type { OperationCaller } from '../operation.ts'
import { untilShown } from '../runs/idempotency.ts'
import { mustWrite } from '../runs/record-command.ts'
import { actorOf, tracing } from '../runs/request-options.ts'
import type { Services } from '../services.ts'

/** The person of a request, with the id that a repeat of the request has too. `asked`: its content, as JSON. */
export async function askerOf(
  s: Services,
  { options }: OperationCaller,
  by: string | undefined,
  asked: unknown,
): Promise<Asker> {
  const { key } = options
  if (key !== undefined) await claimKey(s, key, asked)
  const commandId = key === undefined ? `request:${hex(s.random.bytes(16))}` : keyedCommand(s.log.logId, key, asked)
  return { by: actorOf('user', by, options), ...tracing(options), commandId }
}

/**
 * Records a person's command to a stream of a kind without a driver, and waits briefly until the tables show it. A
 * repeat with the same Idempotency-Key records nothing.
 */
export async function recordIn<State, Event extends StreamEvent, Command>(
  s: Services,
  aggregate: Aggregate<State, Event, Command, CausedContext>,
  id: string,
  command: Command,
  caller: OperationCaller,
  by: string | undefined,
): Promise<Submitted & { readonly id: string }> {
  mustWrite(s)
  const asker = await askerOf(s, caller, by, { stream: `${aggregate.kind}-${id}`, command })
  const done = await s.streams.submit(aggregate, id, command, asker, caller.options.expectedRevision)
  await untilShown(s)
  return { id, ...done }
}
