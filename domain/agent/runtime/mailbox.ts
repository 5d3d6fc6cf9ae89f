import type { Message } from '../../calls/content.ts'
import type { Delivery } from '../../courier/delivery-commands.ts'
import type { Origin } from '../../courier/events.ts'
import type { Correspondent, Destination } from '../../courier/runtime/correspondent.ts'
import { agentStream } from '../../log/ids.ts'
import { type Asking, Mailbox } from '../../stream/runtime/mailbox.ts'
import type { MailboxMemory } from '../../stream/runtime/mailbox-memory.ts'
import type { StreamPorts } from '../../stream/runtime/ports.ts'
import { agent } from '../decide/aggregate.ts'
import type { AgentCommand } from '../decide/commands.ts'
import type { DecisionContext } from '../decide/decision-context.ts'
import type { AgentEvent, EventOf } from '../events/events.ts'
import { deliveryOf, tellsOf } from '../rules/obligations.ts'
import type { AgentState } from '../state/state.ts'
import { Transcript } from '../state/transcript.ts'
import { agentSnapshots } from './history/snapshots.ts'

/** The number of events after which new messages are hashed. */
const HASHED_EVENTS = 256

/** A driver's knowledge besides the state: the messages (if loaded), and the last answer of the model. */
class AgentMemory implements MailboxMemory<AgentEvent, DecisionContext> {
  readonly transcript: Transcript | null
  /** The last answer of the model. Its blocks contain the arguments of the open calls. */
  answer: EventOf<'model_call_end'> | null = null

  private pushed = 0

  constructor(transcript: Transcript | null) {
    this.transcript = transcript
  }

  push(event: AgentEvent): void {
    this.transcript?.push(event)
    // Spreads the hashing of a long history over many events.
    if (++this.pushed % HASHED_EVENTS === 0) this.settle()
    if (event.type === 'model_call_end' && event.body.purpose === 'turn') this.answer = event
  }

  /** Hashes messages early, so that the next decision is faster. */
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

  /** Approximate, because nearly all memory is messages. */
  get bytes(): number {
    return this.transcript?.bytes ?? 0
  }
}

/** The requester of a command to an agent, as recorded in headers. */
export type AgentAsking = Asking<DecisionContext>

export class AgentMailbox
  extends Mailbox<AgentState, AgentEvent, AgentCommand, DecisionContext>
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

  /**
   * The messages that the model sees; empty before {@link loadMessages}. The array grows in place at turn boundaries.
   */
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
