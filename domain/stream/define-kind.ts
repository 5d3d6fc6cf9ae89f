import type { z } from 'zod'
import { canonicalText } from '../log/canonical.ts'
import { sha256 } from '../log/ids.ts'
import type { Aggregate, Erasing, StreamRejection } from './aggregate.ts'
import { codecOf, type Upcasters } from './codec.ts'
import { type Bodies, type CausedContext, deciderOf, type Emit, type EventsOf } from './emitter.ts'
import { ERASURE_VERSION, erasingBy, erasureEvents } from './erasure.ts'
import { StreamError } from './errors.ts'

type Whole<B extends Bodies> = B & typeof erasureEvents

/** A kind of stream without a driver: its events, fold and decisions. Everything else follows from them. */
export interface KindDefinition<State, B extends Bodies, Command, Context extends CausedContext> {
  /** The first part of the streams' names. */
  readonly kind: string
  /** One stream in the words of people, such as `fact`; absent: the kind. */
  readonly noun?: string
  /** Storage format: the current shape of each type of event. The events of erasures are added. */
  readonly bodies: B
  /** Current versions of the types that are not at version 1, and the upcasters of their older bodies. */
  readonly versions?: { readonly [T in keyof B]?: number }
  readonly upcasters?: Upcasters
  /** Version of the fold and of the digested view; default 1. */
  readonly fold?: number
  /** The state after an event. Throws when the event is impossible in this state. */
  evolve(state: State | null, event: EventsOf<B>): State
  /** Emits the events of a decision; none: the command changes nothing. Throws when it refuses the command. */
  decide(state: State | null, command: Command, emit: Emit<B>, context: Context): void
  /** Hex SHA-256 over the view of the state; default: over its canonical JSON. */
  digest?(state: State): string
  /** The types whose bodies contain text of people, models or tools, and what an erasure leaves of each body. */
  readonly residues: { readonly [T in keyof B & string]?: (body: z.infer<B[T]>) => unknown }
  /** The types that end a stream. Only ended streams may be erased; absent: always. */
  readonly ends?: readonly (keyof B & string)[]
  /** The error of a refused request; default: a {@link StreamError}. */
  reject?(code: StreamRejection, message: string): Error
}

export function defineKind<State, const B extends Bodies, Command, Context extends CausedContext = CausedContext>(
  given: KindDefinition<State, B, Command, Context>,
): Aggregate<State, EventsOf<Whole<B>>, Command, Context> {
  const { kind, noun = kind, residues, ends, fold = 1 } = given
  type Event = EventsOf<Whole<B>>
  const bodies: Whole<B> = { ...given.bodies, ...erasureEvents }
  const versions = Object.fromEntries(
    Object.keys(bodies).map((type) => [type, type in erasureEvents ? ERASURE_VERSION : (given.versions?.[type] ?? 1)]),
  )
  const { reading } = codecOf<Event>({ bodies, versions, upcasters: given.upcasters ?? {} }, ({ runId }) =>
    runId === undefined ? {} : { runId },
  )
  const evolve = (state: State | null, event: Event): State => {
    if (!(event.type in erasureEvents)) return given.evolve(state, event as EventsOf<B>)
    if (state === null) throw new Error(`${event.type} before any other event`)
    return state
  }
  const erasing: Erasing = {
    ...erasingBy(residues),
    ending() {
      let ended = ends === undefined
      return {
        see({ type }) {
          ended ||= ends!.includes(type)
        },
        get ended() {
          return ended
        },
      }
    },
  }
  return {
    ...{ kind, noun, fold, evolve, erasing },
    ...reading,
    decide: deciderOf<State, B, Command, Context>(given) as Aggregate<State, Event, Command, Context>['decide'],
    digest: (state) => given.digest?.(state) ?? sha256(canonicalText(state)),
    reject: (code, message) => given.reject?.(code, message) ?? new StreamError(code, message),
    wakeAt: () => null,
    commands: () => [],
    // The state remembers no command ids: repeated requests are found by the ids in the headers.
    remembered: 0,
  }
}
