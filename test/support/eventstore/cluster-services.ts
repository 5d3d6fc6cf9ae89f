import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js'
import type { SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js'
import type { Empty } from '@eventstore/db-client/generated/shared_pb.js'
import grpc from '@grpc/grpc-js'
import { featuresPb, gossipPb, persistent, streams, uuid } from './protocol.ts'
import { asError, type Served } from './switches.ts'

const PERSISTENT = persistent.PersistentSubscriptionsService

/** The server's features. An old server lacks this service. */
export const supportedMethods =
  (node: Served) => (_: grpc.ServerUnaryCall<Empty, SupportedMethods>, done: grpc.sendUnaryData<SupportedMethods>) => {
    node.asked.features++
    const { stalled, old, denied, featuresFail, version } = node.switches
    if (stalled) return
    if (old) return done(asError({ code: grpc.status.UNIMPLEMENTED, details: 'unknown service' }))
    if (denied) return done(asError({ code: grpc.status.UNAUTHENTICATED, details: 'who are you' }))
    if (featuresFail) return done(asError({ code: grpc.status.INTERNAL, details: 'no features now' }))
    const answer = new featuresPb.SupportedMethods()
    answer.setEventStoreServerVersion(version)
    for (const { path } of [...Object.values(streams.StreamsService), ...Object.values(PERSISTENT)]) {
      const [, service = '', method = ''] = path.split('/')
      const supported = new featuresPb.SupportedMethod()
      supported.setServiceName(service)
      supported.setMethodName(method.toLowerCase())
      supported.setFeaturesList(['stream', 'all'])
      answer.addMethods(supported)
    }
    done(null, answer)
  }

/** The cluster's members, from this node's view. */
export const gossipRead =
  (node: Served) => (_: grpc.ServerUnaryCall<Empty, ClusterInfo>, done: grpc.sendUnaryData<ClusterInfo>) => {
    node.asked.gossips++
    if (node.switches.stalled) return
    const states = gossipPb.MemberInfo.VNodeState
    const byName = { leader: states.LEADER, follower: states.FOLLOWER, unknown: states.UNKNOWN }
    const info = new gossipPb.ClusterInfo()
    for (const { port, state, alive } of node.members()) {
      const member = new gossipPb.MemberInfo()
      const place = new gossipPb.EndPoint()
      place.setAddress('127.0.0.1')
      place.setPort(port)
      member.setHttpEndPoint(place)
      member.setInstanceId(uuid(`00000000-0000-4000-8000-${String(port).padStart(12, '0')}`))
      member.setTimeStamp(String(Date.now()))
      member.setState(byName[state])
      member.setIsAlive(alive)
      info.addMembers(member)
    }
    done(null, info)
  }
