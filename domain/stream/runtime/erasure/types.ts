import type { Actor } from '../../../log/envelope.ts'
import type { AnyAggregate, StreamContext } from '../../aggregate.ts'
import type { Doomed, ErasureCode } from '../../erasure.ts'

/**
 * The bodies to erase from a finished stream: one event's, those from `revision` to `to`, or all that may contain text
 * of people, models or tools.
 */
export interface ErasureChoice {
  readonly revision?: number | undefined
  readonly to?: number | undefined
  readonly all?: true | undefined
  /** With `all`: only the bodies at these revisions. */
  readonly only?: ReadonlySet<number> | undefined
}

/** Why bodies are erased. `code` absent: `other`. */
export interface ErasureReason {
  readonly code?: ErasureCode | undefined
  readonly reason: string
}

/** A body that an erasure would empty. `size`: bytes as stored. */
export interface ErasableBody {
  readonly revision: number
  readonly type: string
  /** 0: outside turns. */
  readonly turn: number
  readonly size: number
}

export interface Target extends ErasableBody {
  readonly bodyHash: string
  /** The body is in the blob store. */
  readonly blob: boolean
  readonly erased: boolean
}

/** The request for an erasure, as its facts record it. */
export type Asker = Pick<StreamContext, 'by' | 'commandId' | 'correlationId' | 'trace'>

/** The part of an aggregate that an erasure needs. */
export type Erasable = Pick<
  AnyAggregate,
  'decode' | 'versions' | 'reject' | 'erasing' | 'attaching' | 'attachment' | 'bears'
>

/** The legal holds, which each erasure asks. */
export interface Holds {
  /** Rejects with HELD if a hold covers one of the bodies, and with NOT_YOUR_OWN if `by` lifted one and duties are separate. */
  mustBeFree(doomed: Doomed, by: Actor | null): Promise<void>
  /** Checks as {@link mustBeFree}, then empties. No hold is set in between. */
  emptying<T>(doomed: Doomed, by: Actor, empty: () => Promise<T>): Promise<T>
}
