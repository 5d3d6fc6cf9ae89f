import grpc from '@grpc/grpc-js'
import type { Store } from './store.ts'

/** The faults of a node. */
export class Switches {
  /** Accepts calls and answers none. */
  stalled = false
  /** Answers no read. */
  readsStalled = false
  /** Never completes a filtered read. */
  scansForEver = false
  /** Starting, or without a leader. */
  notReady = false
  /** Rejects every user. */
  denied = false
  /** Accepts the user, but refuses reads of all events. */
  allDenied = false
  /** A follower's first missing position. */
  lagsFrom = Number.POSITIVE_INFINITY
  /** Called after each answered read. */
  answered: () => void = () => undefined
  /** Acts like a server without batched appends. */
  old = false
  /** The version that it reports. */
  version = '23.10.6'
  /** Drops its subscriptions; new ones work. */
  deaf = false
  /** Delivers each event of a subscription twice. */
  duplicates = false
  /** Reads return an event of more than 17 MiB first. */
  huge = false
  /** The request for the server's capabilities fails. */
  featuresFail = false
  /** The delay before each answer, in ms. */
  delayMs = 0
  #held: (() => void)[] | null = null

  /** Writes appends without answering them, until {@link release}. */
  holdAnswers(): void {
    this.#held = []
  }

  release(): void {
    const held = this.#held ?? []
    this.#held = null
    for (const answer of held) answer()
  }

  /** Answers an append, now or after {@link release}. */
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
  /** The number of sent events. */
  sent: number
  /** The start position of the latest subscription to all. */
  from: number
}

/** A node, from the view of its services. */
export interface Served {
  readonly store: Store
  readonly switches: Switches
  /** The requests so far. */
  readonly asked: Asked
  /** Members of the cluster, from this node's view. */
  members(): readonly Member[]
  isLeader(): boolean
}

export interface Member {
  readonly port: number
  readonly state: 'leader' | 'follower' | 'unknown'
  readonly alive: boolean
}

type Call = { readonly metadata: grpc.Metadata }

/** The error of a refused call. */
export interface Refusal {
  readonly code: grpc.status
  readonly details: string
  readonly metadata?: grpc.Metadata
}

/** An exception in the server's format, in the trailers of a call. */
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

/** Why this node refuses a call; null: it does not. */
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
