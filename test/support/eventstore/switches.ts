import grpc from '@grpc/grpc-js'
import type { Store } from './store.ts'

/** The faults of a node. */
export class Switches {
  /** Takes calls and answers none. */
  stalled = false
  /** Answers no read. */
  readsStalled = false
  /** Has so much to look through that it does not come to answer a filtered read. */
  scansForEver = false
  /** Still starting, or without a leader. */
  notReady = false
  /** Knows no user. */
  denied = false
  /** Knows the user, and lets it read no stream of all events. */
  allDenied = false
  /** While it follows a leader it has nothing yet from this position on. */
  lagsFrom = Number.POSITIVE_INFINITY
  /** Told after each read that was answered. */
  answered: () => void = () => undefined
  /** A server from before batched appends. */
  old = false
  /** The version that it reports. */
  version = '23.10.6'
  /** Has forgotten its subscriptions; those who ask anew are served. */
  deaf = false
  /** Delivers each event of a subscription twice. */
  duplicates = false
  /** Reads bring an event of more than 17 MiB first. */
  huge = false
  /** The capabilities of the server cannot be asked for. */
  featuresFail = false
  /** ms before each answer. */
  delayMs = 0
  #held: (() => void)[] | null = null

  /** Appends are written and not answered, until {@link release}. */
  holdAnswers(): void {
    this.#held = []
  }

  release(): void {
    const held = this.#held ?? []
    this.#held = null
    for (const answer of held) answer()
  }

  /** Answers an append, now or when the answers are let go. */
  answer(answer: () => void): void {
    if (this.#held) this.#held.push(answer)
    else answer()
  }
}

/** Counts of calls: appends, appends at a wrong revision, subscriptions, capabilities. */
export interface Asked {
  features: number
  gossips: number
  appends: number
  wrong: number
  subscriptions: number
  /** Events that went out. */
  sent: number
  /** Where the latest subscription to all began. */
  from: number
}

/** A node as its services see it. */
export interface Served {
  readonly store: Store
  readonly switches: Switches
  /** The requests so far. */
  readonly asked: Asked
  /** Members of the cluster, as this node tells of them. */
  members(): readonly Member[]
  isLeader(): boolean
}

export interface Member {
  readonly port: number
  readonly state: 'leader' | 'follower' | 'unknown'
  readonly alive: boolean
}

type Call = { readonly metadata: grpc.Metadata }

/** How a call is refused. */
export interface Refusal {
  readonly code: grpc.status
  readonly details: string
  readonly metadata?: grpc.Metadata
}

/** An exception as the server tells it in the trailers of a call. */
export function exception(code: grpc.status, name: string, more: Readonly<Record<string, string>> = {}): Refusal {
  const metadata = new grpc.Metadata()
  metadata.set('exception', name)
  for (const [key, value] of Object.entries(more)) metadata.set(key, value)
  return { code, details: name, metadata }
}

export const notReady: Refusal = { code: grpc.status.UNAVAILABLE, details: 'Server Is Not Ready' }
export const unexpected = (what: string): Refusal => ({
  code: grpc.status.UNKNOWN,
  details: `Unexpected ${what}: Error`,
})
export const streamDeleted = (stream: string) =>
  exception(grpc.status.FAILED_PRECONDITION, 'stream-deleted', { 'stream-name': stream })

/** Why this node does not do what a call asks for; null: it does. */
export function refusal(node: Served, call: Call): Refusal | null {
  if (node.switches.denied) return exception(grpc.status.UNAUTHENTICATED, 'access-denied')
  if (node.switches.notReady) return notReady
  const needsLeader = call.metadata.get('requires-leader')[0] === 'true'
  if (!needsLeader || node.isLeader()) return null
  const leader = node.members().find(({ state }) => state === 'leader')
  if (!leader) return { code: grpc.status.UNKNOWN, details: 'No leader info available in response' }
  const place = { 'leader-endpoint-host': '127.0.0.1', 'leader-endpoint-port': String(leader.port) }
  return exception(grpc.status.NOT_FOUND, 'not-leader', place)
}

/** The error that ends a call. */
export const asError = ({ code, details, metadata }: Refusal) =>
  Object.assign(new Error(details), { code, details, metadata: metadata ?? new grpc.Metadata() })
