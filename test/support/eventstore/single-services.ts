import type {
  AppendReq,
  AppendResp,
  DeleteReq,
  DeleteResp,
  TombstoneReq,
  TombstoneResp,
} from '@eventstore/db-client/generated/streams_pb.js'
import grpc from '@grpc/grpc-js'
import { type Expectation, expectedBy, proposed } from './append-service.ts'
import { nameOf, shared, streamsPb } from './protocol.ts'
import type { Expected, Outcome, Proposed } from './store.ts'
import { asError, exception, notReady, type Refusal, refusal, type Served, streamDeleted } from './switches.ts'

interface Choice extends Expectation {
  getRevision(): string
}

const expectedOf = (options: Choice): Expected => expectedBy(options, options.getRevision())

/** The append of one batch per call. */
export const append =
  (node: Served) => (call: grpc.ServerReadableStream<AppendReq, AppendResp>, done: grpc.sendUnaryData<AppendResp>) => {
    let options: AppendReq.Options | undefined
    const events: Proposed[] = []
    call.on('data', (request: AppendReq) => {
      options ??= request.getOptions()
      const message = request.getProposedMessage()
      if (message) events.push(proposed(message))
    })
    call.on('end', () => {
      if (node.switches.stalled) return
      const refused = refusal(node, call)
      if (refused) return done(asError(refused))
      const stream = nameOf(options?.getStreamIdentifier())
      const expected = expectedOf(options!)
      setImmediate(() => {
        const outcome = node.store.append(stream, expected, events)
        if (outcome.is === 'written' || outcome.is === 'wrong') done(null, appendAnswer(outcome, expected))
        else done(asError(refusalOf(outcome, stream, expected)))
      })
    })
  }

function appendAnswer(outcome: Extract<Outcome, { is: 'written' | 'wrong' }>, expected: Expected): AppendResp {
  const response = new streamsPb.AppendResp()
  if (outcome.is === 'written') {
    const success = new streamsPb.AppendResp.Success()
    success.setCurrentRevision(String(outcome.revision))
    if (outcome.position === null) success.setNoPosition(new shared.Empty())
    else {
      const position = new streamsPb.AppendResp.Position()
      position.setCommitPosition(String(outcome.position))
      position.setPreparePosition(String(outcome.position))
      success.setPosition(position)
    }
    response.setSuccess(success)
    return response
  }
  const wrong = new streamsPb.AppendResp.WrongExpectedVersion()
  if (outcome.current < 0) wrong.setCurrentNoStream(new shared.Empty())
  else wrong.setCurrentRevision(String(outcome.current))
  if (expected === 'any') wrong.setExpectedAny(new shared.Empty())
  else if (expected === 'exists') wrong.setExpectedStreamExists(new shared.Empty())
  else if (expected < 0) wrong.setExpectedNoStream(new shared.Empty())
  else wrong.setExpectedRevision(String(expected))
  response.setWrongExpectedVersion(wrong)
  return response
}

/** The error of a call for a failed outcome. */
export function refusalOf(outcome: Outcome, stream: string, expected: Expected): Refusal {
  switch (outcome.is) {
    case 'deleted':
      return streamDeleted(stream)
    case 'too-large':
      return exception(grpc.status.INVALID_ARGUMENT, 'maximum-append-size-exceeded', {
        'maximum-append-size': String(outcome.most),
      })
    case 'no-quorum':
      return { code: grpc.status.ABORTED, details: 'Operation timed out' }
    case 'wrong':
      return exception(grpc.status.FAILED_PRECONDITION, 'wrong-expected-version', {
        'stream-name': stream,
        'expected-version': typeof expected === 'number' ? String(expected) : '-2',
        ...(outcome.current >= 0 && { 'actual-version': String(outcome.current) }),
      })
    case 'bad-request':
      return { code: grpc.status.INVALID_ARGUMENT, details: 'BadRequest' }
    case 'written':
      return notReady
  }
}

interface Deleting {
  getOptions():
    | (Choice & { getStreamIdentifier(): InstanceType<typeof shared.StreamIdentifier> | undefined })
    | undefined
}

function deleting<Q extends Deleting, P extends DeleteResp | TombstoneResp>(
  node: Served,
  forEver: boolean,
  answer: (position: string) => P,
) {
  return (call: grpc.ServerUnaryCall<Q, P>, done: grpc.sendUnaryData<P>) => {
    if (node.switches.stalled) return
    const refused = refusal(node, call)
    if (refused) return done(asError(refused))
    const options = call.request.getOptions()!
    const stream = nameOf(options.getStreamIdentifier())
    const expected = expectedOf(options)
    const outcome = node.store.delete(stream, expected, forEver)
    if (outcome.is === 'written') done(null, answer(String(outcome.position)))
    else done(asError(refusalOf(outcome, stream, expected)))
  }
}

export const deleteStream = (node: Served) =>
  deleting<DeleteReq, DeleteResp>(node, false, (at) => {
    const response = new streamsPb.DeleteResp()
    const position = new streamsPb.DeleteResp.Position()
    position.setCommitPosition(at)
    position.setPreparePosition(at)
    response.setPosition(position)
    return response
  })

export const tombstone = (node: Served) =>
  deleting<TombstoneReq, TombstoneResp>(node, true, (at) => {
    const response = new streamsPb.TombstoneResp()
    const position = new streamsPb.TombstoneResp.Position()
    position.setCommitPosition(at)
    position.setPreparePosition(at)
    response.setPosition(position)
    return response
  })
