import type { UUID } from '@eventstore/db-client/generated/shared_pb.js'
import type { BatchAppendReq, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import type grpc from '@grpc/grpc-js'
import { anyPb, bytes, emptyPb, identifier, nameOf, shared, status, streamsPb } from './protocol.ts'
import type { Expected, Outcome, Proposed } from './store.ts'
import { asError, refusal, type Served } from './switches.ts'

interface Batch {
  readonly stream: string
  readonly expected: Expected
  readonly events: Proposed[]
}

/** The streaming append: many batches over one call, each answered with its correlation id. */
export const batchAppend = (node: Served) => (call: grpc.ServerDuplexStream<BatchAppendReq, BatchAppendResp>) => {
  const open = new Map<string, Batch>()
  const refused = refusal(node, call)
  if (refused) return void call.emit('error', asError(refused))
  call.on('data', (request: BatchAppendReq) => {
    const correlation = request.getCorrelationId()!
    const id = JSON.stringify(correlation.toObject())
    const options = request.getOptions()
    if (options && isLate(options, node.store.skewMs))
      return void call.write(answer(correlation, batchOf(options), LATE))
    if (options) open.set(id, batchOf(options))
    const batch = open.get(id)!
    for (const message of request.getProposedMessagesList()) batch.events.push(proposed(message))
    if (!request.getIsFinal()) return
    open.delete(id)
    node.asked.appends++
    if (node.switches.stalled) return
    // Like on a real disk, an append takes longer than a read that was requested before it.
    const write = () => {
      if (call.cancelled) return
      const outcome = node.switches.notReady ? null : node.store.append(batch.stream, batch.expected, batch.events)
      if (outcome?.is === 'wrong') node.asked.wrong++
      node.switches.answer(() => {
        if (!call.cancelled) call.write(answer(correlation, batch, outcome))
      })
    }
    if (node.switches.delayMs > 0) setTimeout(write, node.switches.delayMs)
    else setImmediate(write)
  })
  call.on('end', () => call.end())
  call.on('error', () => undefined)
}

/** The kinds of expected revision of an append, without the number. */
export interface Expectation {
  hasAny(): boolean
  hasStreamExists(): boolean
  hasNoStream(): boolean
}

export function expectedBy(options: Expectation, revision: string): Expected {
  if (options.hasAny()) return 'any'
  if (options.hasStreamExists()) return 'exists'
  return options.hasNoStream() ? -1 : Number(revision)
}

type Message = InstanceType<
  typeof streamsPb.BatchAppendReq.ProposedMessage | typeof streamsPb.AppendReq.ProposedMessage
>

/** An event of a request. */
export function proposed(message: Message): Proposed {
  const map = message.getMetadataMap()
  return {
    id: message.getId()?.getString() ?? '',
    type: map.get('type') ?? '',
    contentType: map.get('content-type') ?? '',
    data: bytes(message.getData_asU8()),
    metadata: bytes(message.getCustomMetadata_asU8()),
  }
}

const LATE: Outcome = { is: 'no-quorum' }

const batchOf = (options: BatchAppendReq.Options): Batch => ({
  stream: nameOf(options.getStreamIdentifier()),
  expected: expectedBy(options, options.getStreamPosition()),
  events: [],
})

/** A request's deadline follows the clock of its sender. */
function isLate(options: BatchAppendReq.Options, skewMs: number): boolean {
  const deadline = options.getDeadline()
  return deadline !== undefined && deadline.toDate().getTime() <= Date.now() + skewMs
}

/** The id has the same form as in the request. */
function answer(correlation: UUID, { stream, expected }: Batch, outcome: Outcome | null): BatchAppendResp {
  const response = new streamsPb.BatchAppendResp()
  response.setCorrelationId(correlation)
  response.setStreamIdentifier(identifier(stream))
  if (outcome?.is === 'written') {
    const success = new streamsPb.BatchAppendResp.Success()
    success.setCurrentRevision(String(outcome.revision))
    if (outcome.position === null) success.setNoPosition(new emptyPb.Empty())
    else {
      const position = new shared.AllStreamPosition()
      position.setCommitPosition(String(outcome.position))
      position.setPreparePosition(String(outcome.position))
      success.setPosition(position)
    }
    response.setSuccess(success)
  } else response.setError(failure(outcome, stream, expected))
  return response
}

function failure(outcome: Exclude<Outcome, { is: 'written' }> | null, stream: string, expected: Expected) {
  const error = new status.Status()
  const details = new anyPb.Any()
  const pack = (message: { serializeBinary(): Uint8Array }, name: string) =>
    details.pack(message.serializeBinary(), `event_store.client.${name}`)
  switch (outcome?.is) {
    case undefined:
      error.setMessage('Server Is Not Ready')
      pack(new shared.Empty(), 'Empty')
      break
    case 'bad-request':
      error.setMessage('BadRequest')
      pack(new shared.BadRequest(), 'BadRequest')
      break
    case 'no-quorum':
      pack(new shared.Timeout(), 'Timeout')
      break
    case 'deleted': {
      const message = new shared.StreamDeleted()
      message.setStreamIdentifier(identifier(stream))
      pack(message, 'StreamDeleted')
      break
    }
    case 'too-large': {
      const message = new shared.MaximumAppendSizeExceeded()
      message.setMaxappendsize(outcome.most)
      pack(message, 'MaximumAppendSizeExceeded')
      break
    }
    case 'wrong':
      pack(wrong(outcome.current, expected), 'WrongExpectedVersion')
  }
  error.setDetails(details)
  return error
}

function wrong(current: number, expected: Expected) {
  const message = new shared.WrongExpectedVersion()
  if (current < 0) message.setCurrentNoStream(new emptyPb.Empty())
  else message.setCurrentStreamRevision(String(current))
  if (expected === 'any') message.setExpectedAny(new emptyPb.Empty())
  else if (expected === 'exists') message.setExpectedStreamExists(new emptyPb.Empty())
  else if (expected < 0) message.setExpectedNoStream(new emptyPb.Empty())
  else message.setExpectedStreamPosition(String(expected))
  return message
}
