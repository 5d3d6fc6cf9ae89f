import { type EventEmitter, once } from 'node:events'
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import grpc from '@grpc/grpc-js'
import { checkpoint, eventMessage, hugeEvent, notFound, told } from './messages.ts'
import { nameOf } from './protocol.ts'
import type { Stored } from './store.ts'
import { asError, exception, type Refusal, refusal, type Served, streamDeleted, unexpected } from './switches.ts'

type Call = grpc.ServerWritableStream<ReadReq, ReadResp>
type Options = ReadReq.Options

/** Reads and subscriptions, of one stream and of all streams. */
export const read = (node: Served) => (call: Call) => {
  if (node.switches.stalled || node.switches.readsStalled) return
  const refused = refusal(node, call)
  if (refused) return fail(call, refused)
  const options = call.request.getOptions()!
  if (node.switches.allDenied && options.hasAll())
    return fail(call, exception(grpc.status.PERMISSION_DENIED, 'access-denied'))
  const work = options.hasSubscription() ? subscription(node, call, options) : page(node, call, options)
  work.catch((error) => call.destroy(error))
}

const fail = (call: Call, why: Refusal) => void call.emit('error', asError(why))

/** Resolves at the first of some events. */
async function first(...waits: readonly (readonly [EventEmitter, string])[]): Promise<void> {
  const over = new AbortController()
  const ended = waits.map(([emitter, name]) => once(emitter, name, over).catch(() => undefined))
  await Promise.race(ended)
  over.abort()
}

/** Writes at the client's reading speed. False: the call has ended. */
async function send(call: Call, message: ReadResp): Promise<boolean> {
  if (call.cancelled) return false
  if (!call.write(message)) await first([call, 'drain'], [call, 'cancelled'])
  return !call.cancelled
}

/** Like {@link send}, for an event. */
function sendEvent(node: Served, call: Call, event: Stored): Promise<boolean> {
  node.asked.sent++
  return send(call, eventMessage(event))
}

/** Whether this node has the event. A follower may lag behind its leader. */
const has = (node: Served) => (event: Stored) => event.position < node.switches.lagsFrom || node.isLeader()

async function page(node: Served, call: Call, options: Options): Promise<void> {
  const count = Number(options.getCount())
  const stream = options.getStream()
  const what = stream ? 'ReadStreamResult' : 'ReadAllResult'
  const backwards = options.getReadDirection() === 1
  if (count === 0) return fail(call, unexpected(what))
  let events: readonly Stored[]
  if (stream) {
    const name = nameOf(stream.getStreamIdentifier())
    if (node.store.isTombstoned(name)) return fail(call, streamDeleted(name))
    const visible = node.store.visible(name)
    if (!visible || (visible.length > 0 && !visible.some(has(node)))) {
      await send(call, notFound(name))
      return void call.end()
    }
    if (stream.hasEnd() && !backwards) return fail(call, unexpected(what))
    const from = stream.hasRevision() ? Number(stream.getRevision()) : stream.hasEnd() ? Number.POSITIVE_INFINITY : 0
    events = visible.filter(({ revision }) => (backwards ? revision <= from : revision >= from))
  } else {
    const all = options.getAll()!
    if (all.hasEnd() && !backwards) return fail(call, unexpected(what))
    const from = all.hasPosition() ? Number(all.getPosition()!.getCommitPosition()) : null
    const end = node.store.all.at(-1)!.position
    if (from !== null && from <= end && indexOf(node, from) === null) return fail(call, unexpected(what))
    if (node.switches.scansForEver && options.hasFilter()) return
    const wanted = matching(options.getFilter())
    if (backwards) events = node.store.all.filter(({ position }) => from === null || position < from)
    else events = from === null ? node.store.all : from > end ? [] : node.store.all.slice(indexOf(node, from)!)
    events = events.filter(wanted)
  }
  events = events.filter(has(node))
  const chosen = backwards ? events.slice(-Math.min(count, events.length)).reverse() : events.slice(0, count)
  if (node.switches.huge) await send(call, hugeEvent())
  for (const event of chosen) if (!(await sendEvent(node, call, event))) return
  call.end()
  node.switches.answered()
}

/** The index of the record at a position; null: no record starts there. */
function indexOf(node: Served, position: number): number | null {
  const { all } = node.store
  let low = 0
  let high = all.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (all[middle]!.position < position) low = middle + 1
    else high = middle
  }
  return all[low]?.position === position ? low : null
}

async function subscription(node: Served, call: Call, options: Options): Promise<void> {
  const { store, switches } = node
  node.asked.subscriptions++
  const stream = options.getStream()
  const name = stream && nameOf(stream.getStreamIdentifier())
  const filter = options.getFilter()
  const wanted =
    name === undefined ? matching(filter) : (event: Stored) => event.stream === name && store.isVisible(event)
  const window = filter ? (filter.getMax() || 32) * filter.getCheckpointintervalmultiplier() : 0
  let next = stream ? 0 : startOf(node, options)
  const after = stream?.hasRevision() ? Number(stream.getRevision()) : -1
  if (stream?.hasEnd()) next = store.all.length
  const fromStart = options.getAll()?.hasStart() === true
  let scanned = 0
  let caughtUp = false
  let forgotten = false
  if (!(await send(call, told('confirmation')))) return
  for (;;) {
    while (next < store.all.length && !forgotten && has(node)(store.all[next]!)) {
      const event = store.all[next++]!
      const skipped = name !== undefined && event.revision <= after
      if (wanted(event) && !skipped) {
        for (let times = switches.duplicates ? 2 : 1; times > 0; times--)
          if (!(await sendEvent(node, call, event))) return
      }
      if (window === 0 || ++scanned % window > 0) continue
      // Like the server: the first checkpoint is 0 for subscriptions from the start.
      const looked = scanned === window && fromStart ? 0 : event.position
      if (!(await send(call, checkpoint(looked)))) return
    }
    if (name !== undefined && store.isTombstoned(name)) return fail(call, streamDeleted(name))
    if (!caughtUp && !(await send(call, told('caughtUp')))) return
    caughtUp = true
    if (call.cancelled) return
    await first([store.news, 'news'], [call, 'cancelled'])
    forgotten ||= switches.deaf
  }
}

function startOf(node: Served, options: Options): number {
  const all = options.getAll()!
  if (all.hasEnd()) return node.store.all.length
  if (!all.hasPosition()) return 0
  const after = Number(all.getPosition()!.getCommitPosition())
  node.asked.from = after
  const found = node.store.all.findIndex(({ position }) => position > after)
  return found < 0 ? node.store.all.length : found
}

interface Filter {
  getStreamIdentifier(): Expression | undefined
  getEventType(): Expression | undefined
}
interface Expression {
  getRegex(): string
  getPrefixList(): string[]
}

/** The predicate of a filter. */
export function matching(filter: Filter | undefined): (event: Stored) => boolean {
  const byName = filter?.getStreamIdentifier()
  const expression = byName ?? filter?.getEventType()
  if (!expression) return () => true
  const prefixes = expression.getPrefixList()
  const regex = expression.getRegex() === '' ? null : new RegExp(expression.getRegex())
  return (event) => {
    const text = byName ? event.stream : event.type
    return regex ? regex.test(text) : prefixes.some((prefix) => text.startsWith(prefix))
  }
}
