import type { Correspondent, Destination } from '../../courier/runtime/correspondent.ts'
import { agentStream } from '../../log/ids.ts'
import { type Asking, Mailbox } from '../../stream/runtime/mailbox.ts'
import type { Memory } from '../../stream/runtime/memory.ts'
import type { StreamPorts } from '../../stream/runtime/ports.ts'
import { agent } from '../decide/aggregate.ts'
import type { Command } from '../decide/commands.ts'
import type { DecisionContext } from '../decide/context.ts'
import type { Message } from '../events/content.ts'
import type { AgentEvent, EventOf } from '../events/events.ts'
import type { Origin } from '../events/tree.ts'
import { type Delivery, deliveryOf, tellsOf } from '../rules/obligations.ts'
import { Transcript } from '../state/messages.ts'
import type { AgentState } from '../state/state.ts'
import { agentSnapshots } from './history/snapshots.ts'

/** After so many events the messages that they made are hashed. */
const HASHED_EVENTS = 256

/** The knowledge of a driver beside the state: the messages, where they were read, and the last answer of the model. */
class AgentMemory implements Memory<AgentEvent, DecisionContext> {
  readonly transcript: Transcript | null
  /** The last answer of the model, whose blocks hold the open calls' arguments. */
  answer: EventOf<'model_call_end'> | null = null

  private pushed = 0

  constructor(transcript: Transcript | null) {
    this.transcript = transcript
  }

  push(event: AgentEvent): void {
    this.transcript?.push(event)
    // Of a long history no step hashes all messages at once.
    if (++this.pushed % HASHED_EVENTS === 0) this.settle()
    if (event.type === 'model_call_end' && event.body.purpose === 'turn') this.answer = event
  }

  /** Messages that are hashed now need not be in the next decision. */
  settle(): void {
    void this.transcript?.rendered
  }

  context(): Partial<DecisionContext> {
    const { transcript } = this
    return transcript === null ? {} : { transcript: () => transcript.branch() }
  }

  fresh(): AgentMemory {
    return new AgentMemory(this.transcript && new Transcript())
  }

  /** Nearly all of it is messages. */
  get bytes(): number {
    return this.transcript?.bytes ?? 0
  }
}

/** The asker of an agent, as headers carry it. */
export type AgentAsking = Asking<DecisionContext>

/** The mailbox of an agent's stream. */
export class AgentMailbox
  extends Mailbox<AgentState, AgentEvent, Command, DecisionContext>
  implements Correspondent<AgentEvent>
{
  readonly agentId: string

  constructor(agentId: string, ports: StreamPorts) {
    super(agent, agentSnapshots, agentStream(agentId), ports, new AgentMemory(null))
    this.agentId = agentId
  }

  readonly decoding = agent

  letterOf(event: AgentEvent, to: Destination): Delivery | null {
    return this.state === null ? null : deliveryOf(this.state, event, to)
  }

  tells(event: AgentEvent): boolean {
    return tellsOf(event)
  }

  bornOf(first: AgentEvent): Origin | undefined {
    return first.type === 'agent_started' ? first.body.origin : undefined
  }

  private get own(): AgentMemory {
    return this.memory as AgentMemory
  }

  /** The messages that the model sees; empty before {@link loadMessages}. The array grows in place at turn boundaries. */
  get messages(): readonly Message[] {
    return this.own.transcript?.messages ?? []
  }

  /** {@link messages} with the turn of each. */
  get told(): Pick<Transcript, 'messages' | 'turns'> {
    return this.own.transcript ?? { messages: [], turns: [] }
  }

  get answer(): EventOf<'model_call_end'> | null {
    return this.own.answer
  }

  /** Reads the whole history once for its messages, which only a driver needs. */
  loadMessages(): Promise<void> {
    return this.remember(new AgentMemory(new Transcript()), () => this.own.transcript !== null)
  }
}
