import { canonicalBytes, canonicalText } from '../../../domain/log/canonical.ts'
import type { Header } from '../../../domain/log/envelope.ts'
import { sha256 } from '../../../domain/log/ids.ts'
import { saltBody } from '../../../domain/log/seal.ts'
import type { Aggregate, Decision, Draft, StreamContext, StreamPlace } from '../../../domain/stream/aggregate.ts'
import {
  type BodyOf,
  bodies,
  type CounterEvent,
  type CounterType,
  checkKnown,
  decode,
  decodeKept,
  versions,
} from './events.ts'

// A kind of stream without agents: a counter that rings a bell at each multiple of a number.

export interface CounterState {
  readonly total: number
  readonly bellAt: number
  /** Totals whose bell is requested and not yet rung. */
  readonly owed: readonly number[]
  readonly rings: number
  readonly closed: boolean
  readonly at: number
  /** Hash of the last note's body. The note itself may be erased. */
  readonly said: string
  readonly commands: readonly string[]
}

export type CounterCommand =
  | { readonly kind: 'open'; readonly bellAt: number }
  | { readonly kind: 'count'; readonly by: number; readonly note: string; readonly runId?: string }
  | { readonly kind: 'rung'; readonly times: number }
  | { readonly kind: 'close' }

class CounterRefused extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

const REMEMBERED = 8
const NEW: CounterState = {
  ...{ total: 0, bellAt: 1, owed: [], rings: 0, closed: false, at: 0, said: '', commands: [] },
}

function evolve(state: CounterState | null, event: CounterEvent): CounterState {
  if (state === null && event.type !== 'counter_opened') throw new Error(`${event.type} before the counter was opened`)
  const before = state ?? NEW
  const commands =
    event.actor.kind === 'user' ? [...before.commands, event.commandId].slice(-REMEMBERED) : before.commands
  const next = { ...before, at: event.at, commands: [...new Set(commands)] }
  switch (event.type) {
    case 'counter_opened':
      return { ...next, bellAt: event.body.bellAt }
    case 'counted':
      return { ...next, total: before.total + event.body.by, said: event.bodyHash }
    case 'ring_requested':
      return { ...next, owed: [...before.owed, event.body.total] }
    case 'rung':
      return { ...next, owed: [], rings: before.rings + event.body.times }
    case 'counter_closed':
      return { ...next, closed: true }
    case 'residue':
    case 'erased':
      return before
  }
}

function decide(
  state: CounterState | null,
  place: StreamPlace,
  command: CounterCommand,
  context: StreamContext,
): Decision<CounterState, CounterEvent> {
  const drafts: Draft<CounterState, CounterEvent>[] = []
  let after = state
  const emit = <T extends CounterType>(type: T, given: BodyOf<T>, runId?: string) => {
    const body = saltBody(canonicalBytes(bodies[type].parse(given)), context.salt())
    const event = {
      ...{ type, body: given, revision: place.revision + 1 + drafts.length, at: context.now },
      ...{ commandId: context.commandId, actor: context.by, bodyHash: body.header.hash },
      ...(runId === undefined ? {} : { runId }),
    } as unknown as CounterEvent
    after = evolve(after, event)
    drafts.push({ event, body, after, checkpoint: type === 'rung' })
  }
  if (command.kind === 'open') {
    if (state !== null) throw new CounterRefused('EXISTS', 'the counter is open')
    emit('counter_opened', { bellAt: command.bellAt })
  } else if (state === null) throw new CounterRefused('UNKNOWN', 'there is no such counter')
  else if (command.kind === 'rung') {
    // An outcome is never refused. An outcome that is no longer owed records nothing.
    if (state.owed.length > 0) emit('rung', { times: command.times })
  } else if (state.closed) throw new CounterRefused('CLOSED', 'the counter is closed')
  else if (command.kind === 'close') emit('counter_closed', {})
  else {
    emit('counted', { by: command.by, note: command.note }, command.runId)
    const total = state.total + command.by
    if (total % state.bellAt === 0) emit('ring_requested', { total })
  }
  return { drafts, state: after }
}

/** The stream ends when the counter is closed, even if it still owes a bell. */
function ending() {
  let ended = false
  return {
    see({ type }: Header) {
      ended ||= type === 'counter_closed'
    },
    get ended() {
      return ended
    },
  }
}

export const counter: Aggregate<CounterState, CounterEvent, CounterCommand> = {
  ...{ kind: 'counter', fold: 1, versions, bodies, decode, decodeKept, checkKnown, evolve, decide },
  fault: ({ type, body }) => bodies[type].safeParse(body).error?.message ?? null,
  wakeAt: ({ owed, at }) => (owed.length > 0 ? at : null),
  digest: (state) => sha256(canonicalText(state)),
  commands: (state) => state.commands,
  remembered: REMEMBERED,
  reject: (code, message) => new CounterRefused(code, message),
  erasing: {
    says: (type) => type === 'counted',
    residue: (type, body) => (type === 'counted' ? { ...(body as BodyOf<'counted'>), note: '' } : body),
    ending,
  },
}

/** The owed effects: one ring for all open requests. */
export const owedBells = ({ owed }: CounterState): number => owed.length
