import { CommandRejected } from '../../calls/errors.ts'
import type { BusMessage } from '../../courier/delivery-commands.ts'
import { placeOf } from '../../courier/ledger.ts'
import { messageId } from '../../log/ids.ts'
import { instantText } from '../../log/instant.ts'
import { echo } from '../../log/issues.ts'
import type { Json } from '../../log/json.ts'
import { callWaitingFor } from '../state/message-bus.ts'
import { payloadFault } from '../state/message-limits.ts'
import type { SayOnTopic, SendMessage } from './commands.ts'
import { distribute, receive, whyNoRequest } from './decide-messages.ts'
import type { DecisionBuilder } from './decision-builder.ts'

// Message bus for people (RuntimeMessageBus). A person's message is recorded directly in the recipient's or the root's
// stream, without the courier. Messages to people are only recorded; people read the log.

/**
 * Records a person's message, which the agent reads at its next turn start. A response ends the call that waits for it.
 * Throws CommandRejected MESSAGE_TOO_LARGE, REQUEST_NOT_TAKEN or REQUEST_NOT_OPEN.
 */
export function takeFromPerson(d: DecisionBuilder, { type, topic, payload, correlationId }: SendMessage): void {
  mustFit(payload)
  if (type === 'request') mustAnswer(d)
  if (type === 'response') mustWait(d, correlationId ?? '')
  const about = { ...(topic === undefined ? {} : { topic }), ...(correlationId === undefined ? {} : { correlationId }) }
  receive(d, { ...named(d), type, ...about, payload }, { sentAt: sentAt(d), payload })
}

/** Records a person's publication, which the root distributes. Throws CommandRejected MESSAGE_TOO_LARGE or NOT_ROOT. */
export function publishForPerson(d: DecisionBuilder, { topic, payload }: SayOnTopic): void {
  mustFit(payload)
  const { parent, runId } = d.state
  if (parent !== null)
    throw new CommandRejected('NOT_ROOT', `publications of people go to the root of the run; publish to ${echo(runId)}`)
  distribute(d, { ...named(d), topic, payload, sentAt: sentAt(d) })
}

function named(d: DecisionBuilder): Pick<BusMessage, 'id' | 'from'> {
  const id = messageId(d.state.agentId, placeOf(d.state, d.state.revision + 1))
  return { id, from: `user:${d.context.by.id}` }
}

const sentAt = (d: DecisionBuilder): string => instantText(d.context.now)

function mustFit(payload: Json): void {
  const fault = payloadFault(payload)
  if (fault !== null) throw new CommandRejected('MESSAGE_TOO_LARGE', fault)
}

function mustAnswer(d: DecisionBuilder): void {
  const why = whyNoRequest(d.state, d.context.now)
  if (why !== null) throw new CommandRejected('REQUEST_NOT_TAKEN', `${echo(d.state.agentId)} takes no request: ${why}`)
}

function mustWait(d: DecisionBuilder, request: string): void {
  if (callWaitingFor(d.state, request) !== undefined) return
  throw new CommandRejected(
    'REQUEST_NOT_OPEN',
    `nothing waits for an answer to ${echo(request)}; it was answered, or its sender has stopped waiting: send a message instead`,
  )
}
