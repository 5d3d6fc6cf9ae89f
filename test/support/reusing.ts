import type { AgentEvent, EventOf, EventType } from '../../domain/agent/events/events.ts'
import { history } from '../../domain/agent/runtime/history/history.ts'
import type { Runtime } from '../../domain/agent/runtime/runtime.ts'
import type { ForkOptions } from '../../domain/agent/runtime/types.ts'
import type { AgentState } from '../../domain/agent/state/state.ts'
import type { At } from '../../domain/stream/point.ts'
import { call, calls, testModel, USER } from './harness.ts'
import type { given } from './story.ts'

export const signal = new AbortController().signal
export const price = { asOf: 'now', input: 1_000_000_000, output: 2_000_000_000, cacheRead: 0, cacheWrite: 0 }
export const models = { requested: 'm', safeDefault: 'm', known: [{ ...testModel, id: 'm', price }] }
export const sets = calls(call('set_context', { key: 'a', value: 1 }))
export const writes = calls(call('write', { n: 1 }))

type Run = Awaited<ReturnType<typeof given>>

/** A fork of a run that reuses its recorded outcomes, driven until it ends or waits. */
export async function reusing(run: Run, at: At, options: ForkOptions = {}, runtime: Runtime = run.runtime) {
  const { runId } = await runtime.fork(run.runId, at, { ...options, reuse: true }, { by: USER })
  const drive = () => runtime.drive(runId, { signal })
  const end = await drive()
  const of = async <T extends EventType>(type: T) => {
    const found: EventOf<T>[] = []
    for await (const page of history(run.ports, runId))
      for (const { event } of page)
        if (event.agentId === runId && event.type === type) found.push(event as AgentEvent as EventOf<T>)
    return found
  }
  const state = async () => (await runtime.at(runId, null)).state
  return { runId, end, drive, of, state, left: async () => (await of('reuse_ended')).map(({ body }) => body) }
}

/** The result of a run, without ids, hashes, times and costs. */
export function come({ state, messages }: { state: AgentState; messages: readonly unknown[] }, ids: readonly string[]) {
  const { machine, phase, turn, gatesPassed, artifactTypes, textOnly, modelFailures, violations, lastText, tree } =
    state
  const ended = machine.status === 'ERROR' ? [machine.status, machine.code] : [machine.status]
  const told = ids.reduce((text, id) => text.replaceAll(id, 'ID'), JSON.stringify(messages))
  const counted = { textOnly, modelFailures, violations, failed: state.failedCalls, context: state.context.tokens }
  return { ended, phase, turn, gatesPassed, artifactTypes, lastText, tree, told, ...counted }
}
