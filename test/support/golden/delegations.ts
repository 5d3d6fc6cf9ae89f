import type { Outcome } from '../../../domain/external/outcome.ts'
import { StreamExternalLog } from '../../../domain/external/runtime/stream-log.ts'
import type { ModelOutcome, ModelRequest } from '../../../domain/ports/index.ts'
import type { DelegatedRuns, RuntimePorts } from '../../../domain/ports/runtime.ts'
import { NO_RIGHTS } from '../../../domain/tree/rights.ts'
import { says, use } from '../tree/planned-model.ts'
import { HAND, worldSpec } from '../tree/plans.ts'
import { ROOT, TreeWorld } from '../tree/world.ts'
import { callTools } from './outside-calls.ts'
import { RecordingLog } from './recording.ts'

// Delegation to external agents: one that finishes, and one that is running when a person cancels the run.

const PRICE = { asOf: '2026-01-01', input: 1_000_000, output: 2_000_000, cacheRead: 0, cacheWrite: 0 }
const given = {
  kind: 'other',
  capabilities: ['agent_api.run', 'agent_api.events'],
  levels: [{ grants: { ...NO_RIGHTS, outside: true }, extensions: { 'backend.other.mode': 'careful' } }],
}
const CHECKED = {
  ...{ ...HAND, phases: [{ name: 'work', allowedTools: ['*'] }] },
  qualityGates: [{ after: 'work', check: 'tests_exist' }],
}
const USAGE = { scope: 'run', inputTokens: 100, cachedInputTokens: 10, outputTokens: 7, model: 'm' } as const

/** External agents: a coder finishes immediately; any other works until it is cancelled. */
function others(world: TreeWorld, ports: RuntimePorts): DelegatedRuns {
  const runs = new StreamExternalLog(ports)
  const handles = new Map<string, Awaited<ReturnType<DelegatedRuns['take']>>>()
  return {
    at: (agentId) => handles.get(agentId),
    async take(agentId) {
      const run = await runs.take(agentId)
      const over = Promise.withResolvers<void>()
      const end = async (outcome: Outcome) => {
        handles.delete(agentId)
        await run.append([{ kind: 'end', outcome }])
        over.resolve()
      }
      const handle = {
        agentId,
        runId: run.state.runId,
        sessionId: null,
        events: { [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true as const, value: undefined }) }) },
        completion: over.promise.then(() => ({ status: DONE.exit, success: true, finalText: null })),
        cancel: () => undefined,
        notice: () =>
          void run.look().then(() => {
            if (run.state.cancelledAt !== null && handles.has(agentId)) return end(CANCELLED)
          }),
        [Symbol.asyncDispose]: async () => undefined,
      }
      handles.set(agentId, handle)
      await run.append([
        { kind: 'batch', first: 0, events: [{ kind: 'TextOutput', text: 'I begin.' }] },
        { kind: 'usage', usage: { ...USAGE, cost: { nanoDollars: 5_000, scope: 'run' } } },
      ])
      if (run.state.tools !== undefined) await callTools(run, runs, world.clock)
      if (run.state.gates.length > 0) await end(DONE)
      else void world.ask(ROOT, { kind: 'cancel', deadlineMs: 10_000, reason: 'enough' }, 'cancel')
      return handle
    },
  }
}

const DONE = { outcome: 'exited', exit: { code: 0, signal: null }, success: true, finalText: 'Mended.' } as const
const CANCELLED = { outcome: 'cancelled', exit: { code: null, signal: 'SIGTERM' } } as const

export const delegations = (): Promise<RecordingLog> => delegating({}, {})

/** The coder calls keepup tools while it works. */
export const outside = (): Promise<RecordingLog> => delegating({ requiresApproval: ['send'] }, { takesTools: true })

/** Two people must approve what the coder sends. */
export const seconded = (): Promise<RecordingLog> =>
  delegating({ approvers: [{ tools: ['send'], count: 2 }] }, { takesTools: true })

async function delegating(policy: object, coder: { readonly takesTools?: true }): Promise<RecordingLog> {
  const log = new RecordingLog()
  const base = worldSpec({ policy: { mode: 'batch', sandboxed: false, backends: ['other'], ...policy } })
  const roles = { coder: CHECKED, reviewer: { ...CHECKED, qualityGates: [] } }
  const backends = { coder: { ...given, model: 'm', price: PRICE, ...coder }, reviewer: given }
  const world = new TreeWorld(
    { rounds: [], ends: 'completes' },
    undefined,
    { ...base, delegation: { ...base.delegation!, roles, backends } },
    log,
  )
  world.delegated = (ports) => others(world, ports)
  world.boot()
  world.answer = ({ messages }: ModelRequest): ModelOutcome => {
    const role = ['coder', 'reviewer'][messages.filter((one) => one.role === 'assistant').length]
    const calls = [use('delegate_to_agent', { role, task: 'mend it' }, `p-${role}`)]
    return { ...says(role === undefined ? [use('complete_task', { summary: 'done' }, 'c')] : calls, 'tool_use') }
  }
  await world.live()
  return log
}
