import { asBlob } from '../log/blobs.ts'
import { FORMAT, type Header, READER, type SealedEvent } from '../log/envelope.ts'
import { instantText } from '../log/instant.ts'
import { GENESIS, type SaltedBody, seal } from '../log/seal.ts'
import type { Aggregate, Draft, StreamContext, StreamEvent } from './aggregate.ts'

/** An event before sealing: its header without the members that depend on its place and its body. */
export interface Unsealed {
  readonly header: Omit<Header, 'format' | 'stream' | 'revision' | 'body' | 'minReader'>
  readonly body: SaltedBody
}

/** Chains events after the head of a stream (null: the stream is new). `blobs`: indices of bodies in the blob store. */
export function chained(
  stream: string,
  head: { readonly revision: number; readonly hash: string } | null,
  events: readonly Unsealed[],
  blobs: ReadonlySet<number>,
): readonly SealedEvent[] {
  const first = (head?.revision ?? -1) + 1
  let previous = head?.hash ?? GENESIS
  return events.map(({ header, body }, index) => {
    const { header: about, bytes } = blobs.has(index) ? asBlob(body) : body
    const revision = first + index
    const reader = revision === 0 ? { minReader: READER } : {}
    const place = { format: FORMAT, stream, ...header, revision, ...reader, body: about } as Header
    const sealed = seal(previous, place, blobs.has(index) ? null : bytes)
    previous = sealed.hash
    return sealed
  })
}

/** Makes unsealed events of drafts. Checkpoints and the last event get a digest, the last event the wake time. */
export function unsealed<State, Event extends StreamEvent, Command, Context extends StreamContext>(
  aggregate: Aggregate<State, Event, Command, Context>,
  drafts: readonly Draft<State, Event>[],
  { trace }: Pick<StreamContext, 'trace'>,
): readonly Unsealed[] {
  return drafts.map(({ event, body, after, checkpoint }, index) => {
    const last = index === drafts.length - 1
    return {
      body,
      header: {
        type: event.type,
        version: aggregate.versions[event.type]!,
        ...(event.runId === undefined ? {} : { runId: event.runId }),
        ...(event.agentId === undefined ? {} : { agentId: event.agentId }),
        turn: event.turn ?? 0,
        timestamp: instantText(event.at),
        commandId: event.commandId,
        actor: event.actor,
        ...(event.driver === undefined ? {} : { driver: event.driver }),
        ...(event.correlationId === undefined ? {} : { correlationId: event.correlationId }),
        ...(event.causationId === undefined ? {} : { causationId: event.causationId }),
        ...(event.toolCallId === undefined ? {} : { toolCallId: event.toolCallId }),
        ...(trace === undefined ? {} : { trace }),
        ...(checkpoint || last ? { digest: { fold: aggregate.fold, value: aggregate.digest(after) } } : {}),
        ...(last ? { wakeAt: aggregate.wakeAt(after) } : {}),
      },
    }
  })
}
