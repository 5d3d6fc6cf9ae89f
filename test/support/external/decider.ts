import { external } from '../../../domain/external/aggregate.ts'
import type { ExternalCommand } from '../../../domain/external/commands.ts'
import type { ExternalDraft } from '../../../domain/external/decision-builder.ts'
import type { ExternalEvent } from '../../../domain/external/events.ts'
import type { ExternalState } from '../../../domain/external/state.ts'
import type { Actor } from '../../../domain/log/envelope.ts'

export const START: ExternalCommand = {
  kind: 'start',
  backend: 'fake',
  request: { prompt: 'go', timeoutMs: 60_000 },
  capabilities: ['agent_api.run'],
}
export const EXITED = { outcome: 'exited', exit: { code: 0, signal: null }, success: true, finalText: 'done' } as const

/** An external run without a process: commands one millisecond apart, by one driver after another. */
export class Run {
  state: ExternalState | null = null
  readonly events: ExternalEvent[] = []
  now = 1_000
  driver: { id: string; epoch: number } | undefined
  stream = 'external-x1'
  by: Actor = { kind: 'system', id: 'runtime' }

  constructor(...commands: ExternalCommand[]) {
    for (const command of commands) this.decide(command)
  }

  decide(command: ExternalCommand, commandId = `c${this.now}`): readonly ExternalDraft[] {
    this.now += 1
    const place = { stream: this.stream, revision: this.events.length - 1 }
    const { drafts, state } = external.decide(this.state, place, command, {
      now: this.now,
      jitter: () => 0.5,
      commandId,
      by: this.by,
      salt: () => new Uint8Array(16).fill(this.now % 256),
      ...(this.driver && { driver: this.driver }),
    })
    this.state = state
    this.events.push(...drafts.map(({ event }) => event))
    return drafts
  }

  /** A driver claims the run and decides from now on. */
  claim(id: string): readonly ExternalDraft[] {
    const drafts = this.decide({ kind: 'claim', driverId: id, build: 'test' })
    if (this.state?.driver?.id === id) this.driver = this.state.driver
    return drafts
  }
}

/** A run with a running process under driver `d1`. */
export function running(): Run {
  const run = new Run(START)
  run.claim('d1')
  run.decide({ kind: 'proceed' })
  return run
}
