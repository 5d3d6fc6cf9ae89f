import { setTimeout as sleep } from 'node:timers/promises'
import { AgentError, CANCELLED } from '../../../domain/external/errors.ts'
import { AgentGateway, type GatewayOptions } from '../../../domain/external/runtime/gateway.ts'
import type {
  AgentBackend,
  AgentCompletion,
  BackendRun,
  Mapped,
  PermissionAsked,
} from '../../../domain/ports/external.ts'
import type { Clock } from '../../../domain/ports/index.ts'
import { MemoryExternalLog } from './memory-log.ts'

export const realClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => sleep(ms, undefined, signal && { signal }),
}
export const ENDED: AgentCompletion = { status: { code: 0, signal: null }, success: true, finalText: 'done' }

/** A backend without a process. The test controls its actions. */
export class Puppet {
  started = 0
  run: BackendRun | undefined
  #end = Promise.withResolvers<AgentCompletion>()
  readonly #begun = Promise.withResolvers<BackendRun>()
  /** The reaction to an abort; the default ends the process immediately. */
  onAbort: () => void = () =>
    this.fail(new AgentError('Backend', CANCELLED, { exit: { code: null, signal: 'SIGTERM' } }))

  readonly backend: AgentBackend = {
    kind: 'fake',
    capabilities: ['agent_api.run', 'agent_api.events', 'agent_api.config.model.v1', 'agent_api.control.cancel.v1'],
    start: (_, run) => {
      this.started++
      this.run = run
      this.#begun.resolve(run)
      run.signal.addEventListener('abort', () => this.onAbort())
      return this.#end.promise
    },
  }

  async emit(mapped: Mapped): Promise<void> {
    await (await this.#begun.promise).emit(mapped)
  }
  async ask(asked: PermissionAsked): Promise<'approved' | 'rejected' | null> {
    return (await this.#begun.promise).ask!(asked)
  }
  text(...texts: string[]): Promise<void> {
    return this.emit({ events: texts.map((text) => ({ kind: 'TextOutput', text })) })
  }
  exit(completion: AgentCompletion = ENDED): void {
    this.#end.resolve(completion)
  }
  fail(error: Error): void {
    this.#end.reject(error)
  }
}

/** A gateway over one puppet and an in-memory log. */
export function puppetGateway(more: Partial<GatewayOptions> = {}) {
  const [puppet, log] = [new Puppet(), new MemoryExternalLog()]
  const gateway = new AgentGateway({ log, clock: realClock, backends: [puppet.backend], ...more })
  return { puppet, log, gateway }
}

/** Whether a promise has settled after all due work has run. */
export async function settled(promise: Promise<unknown>): Promise<boolean> {
  let done = false
  promise.then(
    () => {
      done = true
    },
    () => {
      done = true
    },
  )
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
  return done
}
