import type { z } from 'zod'
import { access } from './access/kind.ts'
import { agent } from './agent/decide/aggregate.ts'
import { annotation } from './annotation/aggregate.ts'
import { document, gateway } from './document/stream/aggregate.ts'
import { external } from './external/aggregate.ts'
import type { KEY_CLAIMED } from './log/idempotency-claim.ts'
import type { LOG_CREATED, LogCreated } from './log/identity.ts'
import { LOG_META } from './log/ids.ts'
import type { LOG_LOSS_ACCEPTED, LogLoss } from './log/loss/loss.ts'
import { kindOf } from './log/owner.ts'
import { memory } from './memory/aggregate.ts'
import { proof } from './proof/kind.ts'
import { context } from './store/aggregate.ts'
import type { AnyAggregate } from './stream/aggregate.ts'
import { thread } from './thread/aggregate.ts'

const OWN = { agent, document, gateway, external, context, memory, proof, access, thread, annotation } as const

/** A kind of stream of keepup itself. */
export type OwnKind = keyof typeof OWN

/** The aggregate of an own kind, with the types of its state and events. */
export const ownAggregate = <K extends OwnKind>(kind: K): (typeof OWN)[K] => OWN[kind]

/** The bodies of the events in streams without a state: `log-meta`, and claims of idempotency keys. */
interface StatelessBodies {
  [LOG_CREATED]: z.infer<typeof LogCreated>
  [LOG_LOSS_ACCEPTED]: LogLoss
  [KEY_CLAIMED]: Record<string, never>
}

type Stored =
  | ReturnType<(typeof OWN)[OwnKind]['decode']>
  | { [T in keyof StatelessBodies]: { type: T; body: StatelessBodies[T] } }[keyof StatelessBodies]

/** A type of event that keepup itself writes to some stream. */
export type StoredType = Stored['type']

/** The body of a type of event. Kinds of streams may have different bodies for one type. */
export type StoredBody<T extends StoredType> = Extract<Stored, { readonly type: T }>['body']

const kinds = new Map<string, AnyAggregate>()

/** Every kind of stream in this program, by the first part of the streams' names. */
export const AGGREGATES: ReadonlyMap<string, AnyAggregate> = kinds

/** Streams without a state: claims of idempotency keys. */
const STATELESS: readonly string[] = ['key']

/** Adds a kind of stream. Call it before a log is opened. Throws for a name that is taken. */
export function addKind(aggregate: AnyAggregate): void {
  const { kind } = aggregate
  if (!/^[a-z][a-z0-9]*$/.test(kind) || isKind(kind) || kind === kindOf(LOG_META))
    throw new Error(`"${kind}" cannot name a new kind of stream; use other letters and digits`)
  kinds.set(kind, aggregate)
}

for (const one of Object.values(OWN)) addKind(one as AnyAggregate)

/** The aggregate of a stream. Throws for a kind that this program does not know. */
export function aggregateOf(stream: string): AnyAggregate {
  const aggregate = kinds.get(kindOf(stream))
  if (aggregate === undefined)
    throw new Error(`streams such as ${stream} are not known here; use the keepup that wrote it`)
  return aggregate
}

/** Whether keepup writes streams of this kind. */
export function isKind(kind: string): boolean {
  return kinds.has(kind) || STATELESS.includes(kind)
}
