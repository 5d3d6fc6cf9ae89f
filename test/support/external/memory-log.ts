import type { AgentEventBody } from '../../../domain/external/agent-event.ts'
import { external } from '../../../domain/external/aggregate.ts'
import type { ExternalCommand } from '../../../domain/external/commands.ts'
import type { ExternalEvent } from '../../../domain/external/events.ts'
import type { ExternalState } from '../../../domain/external/state.ts'
import type { ExternalLog, ExternalRunLog } from '../../../domain/ports/external.ts'

/** The stream of one run in memory, decided and folded by the aggregate. */
class MemoryRunLog implements ExternalRunLog {
  readonly agentId: string
  readonly events: ExternalEvent[] = []
  /** Null before the start. */
  state = null as unknown as ExternalState
  readonly shared: boolean = false
  readonly lost: boolean = false
  /** Called before each append. A test may delay the append or throw. */
  before: (commands: readonly ExternalCommand[]) => Promise<void> | undefined = () => undefined
  readonly #agent: AgentEventBody[] = []
  #now = 0

  constructor(agentId: string) {
    this.agentId = agentId
  }

  async append(commands: readonly ExternalCommand[]): Promise<void> {
    await this.before(commands)
    for (const command of commands) this.decide(command)
  }

  async look(): Promise<void> {}

  listen(): () => void {
    return () => undefined
  }

  async read(from: number): Promise<readonly AgentEventBody[]> {
    return this.#agent.slice(from, from + 100)
  }

  decide(command: ExternalCommand): void {
    const place = { stream: `external-${this.agentId}`, revision: this.events.length - 1 }
    const { drafts, state } = external.decide(this.state, place, command, {
      now: this.#now++,
      jitter: () => 0.5,
      commandId: `c${this.#now}`,
      by: { kind: 'driver', id: 'd1' },
      salt: () => new Uint8Array(16),
      driver: { id: 'd1', epoch: 1 },
    })
    this.state = state!
    for (const { event } of drafts) {
      this.events.push(event)
      if (event.type === 'agent_events') this.#agent.push(...(event.body.events as AgentEventBody[]))
    }
  }
}

/** All runs of a gateway in memory. */
export class MemoryExternalLog implements ExternalLog {
  readonly runs: MemoryRunLog[] = []
  onBegin: (run: MemoryRunLog) => void = () => undefined

  get last(): MemoryRunLog {
    return this.runs.at(-1)!
  }

  async begin(start: ExternalCommand): Promise<ExternalRunLog> {
    const run = new MemoryRunLog(`x${this.runs.length + 1}`)
    this.onBegin(run)
    for (const command of [start, { kind: 'claim', driverId: 'd1', build: 'test' }, { kind: 'proceed' }] as const)
      run.decide(command)
    this.runs.push(run)
    return run
  }

  async take(agentId: string, facts: readonly ExternalCommand[] = []): Promise<ExternalRunLog> {
    const run = this.runs.find((one) => one.agentId === agentId)!
    for (const command of [
      { kind: 'claim', driverId: 'd1', build: 'test' } as const,
      ...facts,
      { kind: 'proceed' } as const,
    ])
      run.decide(command)
    return run
  }
}
