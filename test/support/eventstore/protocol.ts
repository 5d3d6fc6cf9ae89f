import gossip from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import gossipPb from '@eventstore/db-client/generated/gossip_pb.js'
import persistent from '@eventstore/db-client/generated/persistent_grpc_pb.js'
import persistentPb from '@eventstore/db-client/generated/persistent_pb.js'
import features from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import featuresPb from '@eventstore/db-client/generated/serverfeatures_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import status from '@eventstore/db-client/generated/status_pb.js'
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js'
import streamsPb from '@eventstore/db-client/generated/streams_pb.js'
import anyPb from 'google-protobuf/google/protobuf/any_pb.js'
import emptyPb from 'google-protobuf/google/protobuf/empty_pb.js'

// The client package contains the service definitions. The stand-in serves them.
export {
  anyPb,
  emptyPb,
  features,
  featuresPb,
  gossip,
  gossipPb,
  persistent,
  persistentPb,
  shared,
  status,
  streams,
  streamsPb,
}

/** The bytes of a generated message's field, in either form. */
export const bytes = (field: Uint8Array | string): Uint8Array =>
  typeof field === 'string' ? Buffer.from(field, 'base64') : field

export const nameOf = (identifier: { getStreamName_asU8(): Uint8Array } | undefined): string =>
  Buffer.from(identifier?.getStreamName_asU8() ?? []).toString('utf8')

export function identifier(name: string) {
  const message = new shared.StreamIdentifier()
  message.setStreamName(new Uint8Array(Buffer.from(name, 'utf8')))
  return message
}

export function uuid(id: string) {
  const message = new shared.UUID()
  message.setString(id)
  return message
}
