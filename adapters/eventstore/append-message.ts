import type { EventData } from '@eventstore/db-client'
import {
  type BatchAppendReq,
  type BatchAppendResp,
  sharedPb,
  streamsPb,
  unpackToCommandError,
} from './client-internals.ts'

export type BinaryEvent = EventData & { data: Uint8Array; metadata: Uint8Array }

/** The server's answer to an append that succeeded. */
export interface Appended {
  /** The revision of the batch's last event. */
  readonly revision: bigint
  /** Absent: the stream's metadata hides the event. */
  readonly position: { readonly commit: bigint; readonly prepare: bigint } | undefined
}

const utf8 = new TextEncoder()

/** A UUID as two 64-bit halves in decimal. */
export type CorrelationId = readonly [most: string, least: string]

/**
 * The request to append `events` after revision `expected` (-1: none) of the stream `name`. It has no deadline: the
 * server's own limit for writes applies, and the two clocks need not agree.
 */
export function appendRequest(
  id: CorrelationId,
  name: string,
  expected: number,
  events: readonly BinaryEvent[],
): BatchAppendReq {
  const request = new streamsPb.BatchAppendReq()
  request.setCorrelationId(correlation(id))
  request.setOptions(optionsOf(name, expected))
  request.setProposedMessagesList(events.map(proposed))
  request.setIsFinal(true)
  return request
}

function correlation([most, least]: CorrelationId) {
  const halves = new sharedPb.UUID.Structured()
  halves.setMostSignificantBits(most)
  halves.setLeastSignificantBits(least)
  const id = new sharedPb.UUID()
  id.setStructured(halves)
  return id
}

function optionsOf(name: string, expected: number) {
  const stream = new sharedPb.StreamIdentifier()
  stream.setStreamName(utf8.encode(name))
  const options = new streamsPb.BatchAppendReq.Options()
  options.setStreamIdentifier(stream)
  if (expected < 0) options.setNoStream(new sharedPb.Empty())
  else options.setStreamPosition(String(expected))
  return options
}

function proposed(event: BinaryEvent) {
  const id = new sharedPb.UUID()
  id.setString(event.id)
  const message = new streamsPb.BatchAppendReq.ProposedMessage()
  message.setId(id)
  message.getMetadataMap().set('type', event.type).set('content-type', event.contentType)
  message.setData(event.data)
  message.setCustomMetadata(event.metadata)
  return message
}

/** The request that an answer belongs to: the lower half of its id. */
export const answeredBy = (answer: BatchAppendResp): string =>
  answer.getCorrelationId()?.getStructured()?.getLeastSignificantBits() ?? ''

/** The result of an append. Throws the client's error if the server refused the batch. */
export function appendedBy(answer: BatchAppendResp, name: string): Appended {
  const error = answer.getError()
  if (error) throw unpackToCommandError(error, name)
  const success = answer.getSuccess()
  if (!success) throw new Error('the server answered an append with neither success nor error')
  const position = success.getPosition()
  return {
    revision: BigInt(success.getCurrentRevision()),
    position: position && {
      commit: BigInt(position.getCommitPosition()),
      prepare: BigInt(position.getPreparePosition()),
    },
  }
}
