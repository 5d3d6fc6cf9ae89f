import type { Findings } from '../../domain/agent/control/control-tool.ts'
import { controlToolNamed } from '../../domain/agent/control/registry.ts'
import type { AgentCommand } from '../../domain/agent/decide/commands.ts'
import { decideAgent } from '../../domain/agent/decide/decide.ts'
import type { AgentState } from '../../domain/agent/state/state.ts'
import { Transcript } from '../../domain/agent/state/transcript.ts'
import type { Tool } from '../../domain/ports/index.ts'
import { testSpec, USER } from './harness.ts'

type Driver = { readonly id: string; readonly epoch: number }

/** An agent without effects: commands and facts in any order, by any driver, at any time. */
export class Decider {
  state: AgentState
  now = Date.UTC(2026, 0, 18)

  constructor(spec: Record<string, unknown>, tools: readonly Tool[] = []) {
    const start = { kind: 'start', spec: testSpec(spec, tools), task: 'do it' } as const
    this.state = decideAgent(null, { ...this.named, revision: -1 }, start, this.facts()).state!
  }

  private readonly named = { agentId: 'run1', runId: 'run1' }

  private facts(driver?: Driver, person = USER) {
    return {
      now: this.now,
      salt: () => new Uint8Array(16),
      jitter: () => 0,
      by: driver === undefined ? person : ({ kind: 'driver', id: driver.id } as const),
      commandId: `c${this.state?.revision ?? -1}`,
      transcript: () => new Transcript(),
      ...(driver === undefined ? {} : { driver }),
    }
  }

  /** Decides a command and returns its events. Without a driver, a person sends the command. */
  take(command: AgentCommand, driver?: Driver, person = USER) {
    const { drafts, state } = decideAgent(
      this.state,
      { ...this.named, revision: this.state.revision },
      command,
      this.facts(driver, person),
    )
    this.state = state!
    return drafts.map(({ event }) => event)
  }

  /** The agent's next driver, after its claim. */
  claim(id: string): Driver {
    this.take({ kind: 'claim', driverId: id, build: 'test' }, { id, epoch: 0 })
    return this.state.driver!
  }

  /** The model of the open turn requests these calls. */
  answers(driver: Driver, ...calls: readonly (readonly [name: string, args: object])[]) {
    const content = calls.map(
      ([name, input], i) => ({ type: 'tool_use', id: `p${i}`, name, input: input as never }) as const,
    )
    const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 }
    const outcome = { content, stopReason: 'tool_use', usage, servedBy: 'test-model' } as const
    return this.take(
      { kind: 'model_answered', turn: this.state.turn, attempt: 1, outcome, durationMs: 1, paths: [] },
      driver,
    )
  }

  /** The call at this index of the open turn succeeds; `input`: of a control tool. */
  succeeds(
    driver: Driver,
    toolName: string,
    { index = 0, attempt = 1, input = {}, gates = [] as Findings['gates'] } = {},
  ) {
    const toolCallId = `run1.t${this.state.turn}.c${index}`
    const result = { content: 'ok' }
    const findings = { gates, artifacts: [], text: null }
    const control = controlToolNamed(toolName) === undefined ? {} : { control: { input, findings } }
    return this.take(
      { kind: 'tool_succeeded', toolCallId, toolName, attempt, durationMs: 1, result, ...control },
      driver,
    )
  }
}
