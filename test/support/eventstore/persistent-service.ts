import type {
  CreateReq,
  CreateResp,
  DeleteReq,
  DeleteResp,
  GetInfoReq,
  GetInfoResp,
  ReadReq,
  ReadResp,
  ReplayParkedReq,
  ReplayParkedResp,
} from '@eventstore/db-client/generated/persistent_pb.js'
import grpc from '@grpc/grpc-js'
import { fillRecorded } from './messages.ts'
import { type Consumer, Group } from './persistent-group.ts'
import { nameOf, persistentPb } from './protocol.ts'
import { matching } from './read-service.ts'
import type { Store, Stored } from './store.ts'
import { asError, exception, refusal, type Served } from './switches.ts'

const ALL = '$all'
type Named = { hasAll(): boolean; getStreamIdentifier(): Parameters<typeof nameOf>[0]; getGroupName(): string }
const sourceOf = (options: Named) => (options.hasAll() ? ALL : nameOf(options.getStreamIdentifier()))

/** The persistent subscriptions of one deployment. */
export class Groups {
  readonly #groups = new Map<string, Group>()

  get(source: string, group: string): Group | undefined {
    return this.#groups.get(`${source}::${group}`)
  }

  set(source: string, name: string, group: Group): void {
    this.#groups.set(`${source}::${name}`, group)
  }

  delete(source: string, name: string): void {
    this.get(source, name)?.end()
    this.#groups.delete(`${source}::${name}`)
  }

  restarted(): void {
    for (const group of this.#groups.values()) group.restarted()
  }

  end(): void {
    for (const group of this.#groups.values()) group.end()
  }
}

const about = (code: grpc.status, what: string, source: string, group: string) =>
  asError(exception(code, `persistent-subscription-${what}`, { 'stream-name': source, 'group-name': group }))
const missing = (source: string, group: string) => about(grpc.status.NOT_FOUND, 'does-not-exist', source, group)

/** Handles a call on one group that must exist. */
function onGroup<Q extends { getOptions(): Named | undefined }, P>(
  node: Served,
  groups: Groups,
  answer: (group: Group, source: string, name: string) => P,
) {
  return (call: grpc.ServerUnaryCall<Q, P>, done: grpc.sendUnaryData<P>) => {
    const refused = refusal(node, call)
    if (refused) return done(asError(refused))
    const options = call.request.getOptions()!
    const [source, name] = [sourceOf(options), options.getGroupName()]
    const group = groups.get(source, name)
    if (group) done(null, answer(group, source, name))
    else done(missing(source, name))
  }
}

export const persistentServices = (node: Served, groups: Groups): grpc.UntypedServiceImplementation => ({
  create: create(node, groups) as grpc.UntypedHandleCall,
  delete: onGroup<DeleteReq, DeleteResp>(node, groups, (_, source, name) => {
    groups.delete(source, name)
    return new persistentPb.DeleteResp()
  }) as grpc.UntypedHandleCall,
  replayParked: onGroup<ReplayParkedReq, ReplayParkedResp>(node, groups, (group) => {
    group.replayParked()
    return new persistentPb.ReplayParkedResp()
  }) as grpc.UntypedHandleCall,
  getInfo: onGroup<GetInfoReq, GetInfoResp>(node, groups, infoOf) as grpc.UntypedHandleCall,
  read: read(node, groups) as grpc.UntypedHandleCall,
})

/** Never forwarded: a follower refuses the call. */
const create =
  (node: Served, groups: Groups) =>
  (call: grpc.ServerUnaryCall<CreateReq, CreateResp>, done: grpc.sendUnaryData<CreateResp>) => {
    call.metadata.set('requires-leader', 'true')
    const refused = refusal(node, call)
    if (refused) return done(asError(refused))
    const options = call.request.getOptions()!
    const [all, name] = [options.getAll(), options.getGroupName()]
    const source = all ? ALL : nameOf(options.getStreamIdentifier())
    if (groups.get(source, name)) return done(about(grpc.status.ALREADY_EXISTS, 'exists', source, name))
    const settings = options.getSettings()!
    const chosen = all ? matching(all.getFilter()) : (event: Stored) => event.stream === source
    const wanted = (event: Stored) => chosen(event) && !event.stream.startsWith('$')
    // For a stream, the client uses the protocol of servers before 21.10.
    const from = all ? startOfAll(node.store, all) : startOfStream(node.store, source, settings.getRevision())
    groups.set(
      source,
      name,
      new Group(node.store, source, name, from, wanted, {
        maxRetryCount: settings.getMaxRetryCount(),
        messageTimeoutMs: settings.getMessageTimeoutMs(),
        checkpointCount: settings.getMinCheckpointCount(),
      }),
    )
    done(null, new persistentPb.CreateResp())
  }

const FROM_END = '18446744073709551615'

function startOfStream(store: Store, name: string, from: string): number {
  if (from === FROM_END) return store.all.length
  const index = store.all.findIndex(({ stream, revision }) => stream === name && revision >= Number(from))
  return index < 0 ? store.all.length : index
}

function startOfAll(store: Store, options: CreateReq.AllOptions): number {
  if (options.hasEnd()) return store.all.length
  const from = options.hasPosition() ? Number(options.getPosition()!.getCommitPosition()) : 0
  const index = store.all.findIndex(({ position }) => position >= from)
  return index < 0 ? store.all.length : index
}

const read = (node: Served, groups: Groups) => (call: grpc.ServerDuplexStream<ReadReq, ReadResp>) => {
  let left: () => void = () => undefined
  call.on('data', (request: ReadReq) => {
    const options = request.getOptions()
    if (!options) return
    const [source, name] = [sourceOf(options), options.getGroupName()]
    const group = groups.get(source, name)
    const refused = refusal(node, call)
    if (refused || !group) return void call.emit('error', refused ? asError(refused) : missing(source, name))
    const consumer: Consumer = {
      room: options.getBufferSize(),
      send: (event, retries) => void call.write(delivered(event, retries)),
    }
    const confirmed = new persistentPb.ReadResp()
    const confirmation = new persistentPb.ReadResp.SubscriptionConfirmation()
    confirmation.setSubscriptionId(`${source}::${name}`)
    confirmed.setSubscriptionConfirmation(confirmation)
    call.write(confirmed)
    call.on('data', (next: ReadReq) => settle(group, next))
    left = () => {
      left = () => undefined
      group.leave(consumer)
    }
    group.join(consumer)
  })
  call.on('cancelled', () => left())
  call.on('end', () => {
    left()
    call.end()
  })
  call.on('error', () => left())
}

const ACTIONS = ['unknown', 'park', 'retry', 'skip', 'stop'] as const

function settle(group: Group, request: ReadReq): void {
  group.ack((request.getAck()?.getIdsList() ?? []).map((id) => id.getString()))
  const nack = request.getNack()
  if (!nack) return
  const action = ACTIONS[nack.getAction()] ?? 'unknown'
  group.nack(
    nack.getIdsList().map((id) => id.getString()),
    action,
    nack.getReason(),
  )
}

function delivered(event: Stored, retries: number): ReadResp {
  const recorded = fillRecorded(new persistentPb.ReadResp.ReadEvent.RecordedEvent(), event)
  const message = new persistentPb.ReadResp.ReadEvent()
  message.setEvent(recorded)
  message.setCommitPosition(String(event.position))
  message.setRetryCount(retries)
  const response = new persistentPb.ReadResp()
  response.setEvent(message)
  return response
}

function infoOf(group: Group, source: string, name: string): GetInfoResp {
  const { settings, state } = group
  const info = new persistentPb.SubscriptionInfo()
  info.setEventSource(source)
  info.setGroupName(name)
  info.setStatus('Live')
  info.setMaxRetryCount(settings.maxRetryCount)
  info.setMessageTimeoutMilliseconds(settings.messageTimeoutMs)
  info.setMinCheckPointCount(settings.checkpointCount)
  info.setNamedConsumerStrategy('RoundRobin')
  info.setStartFrom(source === ALL ? 'C:0/P:0' : '0')
  info.setTotalInFlightMessages(state.inFlight)
  info.setParkedMessageCount(String(state.parked))
  const response = new persistentPb.GetInfoResp()
  response.setSubscriptionInfo(info)
  return response
}
