import type { Command } from '../agent/decisions/commands.ts'
import type { DecisionContext } from '../agent/decisions/context.ts'
import { type Decision, decide, type Identity } from '../agent/decisions/decide.ts'
import type { Draft } from '../agent/decisions/deciding.ts'
import { wakeAt } from '../agent/decisions/wake-at.ts'
import { attachmentOf } from '../agent/events/attachment.ts'
import { versions } from '../agent/events/events.ts'
import { digestOf, FOLD } from '../agent/state/digest.ts'
import type { Transcript } from '../agent/state/messages.ts'
import type { AgentState } from '../agent/state/state.ts'
import { asBlob, blobsOf } from '../log/blobs.ts'
import { FORMAT, type Header, READER, type SealedEvent } from '../log/envelope.ts'
import { agentStream } from '../log/ids.ts'
import { GENESIS, seal } from '../log/seal.ts'
import type { Head } from '../ports.ts'
import { append, type Urgency } from './append.ts'
import { type Addressed, BlobWrites } from './blob-writes.ts'
import type { RuntimePorts } from './ports.ts'
import { SaltTape } from './salt-tape.ts'

/** A decision that is in the log. */
export interface Recorded {
  readonly decision: Decision
  readonly sealed: readonly SealedEvent[]
}

export type Asking = Pick<DecisionContext, 'by' | 'commandId' | 'driver' | 'correlationId' | 'trace'>

/**
 * Where what is decided is recorded. Time, decision, sealing and enqueueing are one synchronous step, so that no
 * other writer of this process comes between. Blobs are durable before that: where a decision needs some, they are put
 * first and it is made again, with the same salts, at the new time.
 */
export class Journal {
  private readonly ports: RuntimePorts
  constructor(ports: RuntimePorts) {
    this.ports = ports
  }

  /** Decides and appends. Null: nothing was decided. Rejects with CommandRejected, ConflictError and other LogErrors. */
  async record(
    state: AgentState | null,
    identity: Identity,
    head: Head | null,
    command: Command,
    asking: Asking,
    urgency: Urgency,
    transcript: Transcript | null,
  ): Promise<Recorded | null> {
    const { log, clock, random } = this.ports
    await this.ports.crashPoint?.('before_append')
    const tape = new SaltTape(random)
    const writes = new BlobWrites(this.ports, { stream: agentStream(identity.agentId), runId: identity.runId })
    for (;;) {
      tape.rewind()
      const now = Math.max(clock.now(), head?.timestamp ?? 0, log.floor())
      const told = transcript === null ? {} : { transcript: () => transcript.branch() }
      const context: DecisionContext = { ...asking, ...told, now, salt: () => tape.salt(), jitter: () => tape.jitter() }
      const decision = decide(state, identity, command, context)
      if (decision.drafts.length === 0) return null
      const blobs = blobsOf(decision.drafts.map((draft) => draft.body.header.size))
      const stored: Addressed[] = [
        ...blobs.map((i) => decision.drafts[i]!.body),
        ...attachedTo(decision.drafts, command),
      ]
      if (await writes.put(stored)) {
        await this.ports.crashPoint?.('after_blobs')
        continue
      }
      const sealed = sealDrafts(decision.drafts, new Set(blobs), head, asking)
      await append(this.ports, agentStream(identity.agentId), head?.revision ?? -1, sealed, urgency).catch(
        async (error: unknown) => {
          await writes.refused(error)
          throw error
        },
      )
      await writes.named(stored.map(({ header }) => header.hash))
      await this.ports.crashPoint?.('after_append')
      return { decision, sealed }
    }
  }
}

/** The whole results that the drafts name. A fact that came too late is not recorded, and nothing of it is stored. */
function attachedTo(drafts: readonly Draft[], command: Command): readonly Addressed[] {
  if (command.kind !== 'tool_succeeded' || command.attached === undefined) return []
  const { attachment, bytes } = command.attached
  const named = drafts.some(({ event }) => attachmentOf(event)?.hash === attachment.hash)
  return named ? [{ bytes, header: { hash: attachment.hash }, repeats: true }] : []
}

/** Chains drafts to the head, with the state's digest on every checkpoint and on the last one. */
function sealDrafts(
  drafts: readonly Draft[],
  blobs: ReadonlySet<number>,
  head: Head | null,
  asking: Asking,
): readonly SealedEvent[] {
  let previous = head?.hash ?? GENESIS
  return drafts.map((draft, index) => {
    const body = blobs.has(index) ? asBlob(draft.body) : draft.body
    const last = index === drafts.length - 1
    const sealed = seal(previous, headerOf(draft, body.header, last, asking), blobs.has(index) ? null : body.bytes)
    previous = sealed.hash
    return sealed
  })
}

function headerOf({ event, after, checkpoint }: Draft, body: Header['body'], last: boolean, { trace }: Asking): Header {
  return {
    format: FORMAT,
    stream: agentStream(event.agentId),
    type: event.type,
    version: versions[event.type],
    runId: event.runId,
    agentId: event.agentId,
    turn: event.turn,
    revision: event.revision,
    timestamp: new Date(event.at).toISOString(),
    commandId: event.commandId,
    actor: event.actor,
    ...(event.driver === undefined ? {} : { driver: event.driver }),
    ...(event.correlationId === undefined ? {} : { correlationId: event.correlationId }),
    ...(event.causationId === undefined ? {} : { causationId: event.causationId }),
    ...(event.toolCallId === undefined ? {} : { toolCallId: event.toolCallId }),
    ...(trace === undefined ? {} : { trace }),
    ...(checkpoint || last ? { digest: { fold: FOLD, value: digestOf(after) } } : {}),
    ...(last ? { wakeAt: wakeAt(after) } : {}),
    ...(event.revision === 0 ? { minReader: READER } : {}),
    body,
  }
}
