import { fault } from './row.ts'
import type { Rule } from './rules.ts'

const gateway = 'test/domain/external/gateway.test.ts'
const http = 'test/api/http-agents.test.ts'
const rule = 'seed 002'

/** Every requirement of seed 002 (CONTRACTS 13), and keepup's additions. */
export const AGENTS: readonly Rule[] = [
  {
    rule,
    says: 'the gateway resolves a backend for the kind, otherwise UnknownBackend',
    test: gateway,
    name: 'run rejects with UnknownBackend before any other check',
    fault: fault(
      'external/runtime/gateway.ts',
      "throw new AgentError('UnknownBackend',",
      "throw new AgentError('InvalidRequest',",
    ),
  },
  {
    rule,
    says: 'the backend validates the capabilities that are asked for; unsupported operations fail closed',
    test: 'test/domain/external/request.test.ts',
    fault: fault('external/request.ts', 'if (refused === undefined) return\n', 'return\n'),
  },
  {
    rule,
    says: 'keys and values of extensions are validated before any process is started',
    test: gateway,
    name: 'precedes every spawn',
    fault: fault(
      'external/runtime/gateway.ts',
      'const request = checkRequest(limited(asked, backend, by), backend)',
      'const request = asked',
    ),
  },
  {
    rule,
    says: 'a run returns a handle with an event stream and a completion',
    test: gateway,
    name: 'several consumers each see all events in order',
    fault: fault('external/runtime/event-reader.ts', 'this.#read += buffer.length', 'this.#read += 1'),
  },
  {
    rule,
    says: 'a backend with agent_api.events.live emits events before its process exits',
    test: 'test/adapters/agents-process/harness.test.ts',
    name: 'tells its events while it runs',
    fault: {
      file: 'adapters/agents/process/process.ts',
      search: 'splitter.push(value)',
      replace: '(splitter.push(value), [])',
    },
  },
  {
    rule,
    says: 'the completion settles only when the process has exited and the event stream has ended',
    test: gateway,
    name: 'settles after the process has exited and the events have ended for the consumer',
    fault: fault(
      'external/runtime/run-handle.ts',
      'if (this.#settled || this.#end === null || this.#readers.size > 0) return',
      'if (this.#settled || this.#end === null) return',
    ),
  },
  {
    rule,
    says: 'events are emitted in the order in which the mapping made them',
    test: 'test/domain/external/bounds.test.ts',
    name: 'order and content stay',
    fault: fault('external/batch.ts', 'this.#events.push(event)', 'this.#events.unshift(event)'),
  },
  {
    rule,
    says: 'a process that cannot be terminated is reported by the completion as an error',
    test: gateway,
    name: 'a process that does not end is told as such',
    fault: fault(
      'external/runtime/run.ts',
      "const cancelled = told.code === 'Backend' && told.message === CANCELLED",
      "const cancelled = told.code === 'Backend'",
    ),
  },
  {
    rule,
    says: 'to drop the handle asks for the end of the process',
    test: gateway,
    name: 'asyncDispose of the handle cancels',
    fault: fault('external/runtime/run-handle.ts', '    this.cancel()\n    for (const reader', '    for (const reader'),
  },
  {
    rule,
    says: 'an operation that becomes unsupported mid-run completes with that error, and emits an Error event',
    test: gateway,
    name: 'an operation that becomes unsupported mid-run',
    fault: fault(
      'external/runtime/run.ts',
      "const code = told.code === 'UnsupportedCapability' ? told.code : 'Backend'",
      "const code = 'Backend' as string",
    ),
  },
  {
    rule,
    says: 'the completion settles exactly once, and nothing is asked of the run from then on',
    test: gateway,
    name: 'is a no-op once the completion has settled',
    fault: fault(
      'external/runtime/run.ts',
      'if (this.settled || this.#abort.signal.aborted) return',
      'if (this.#abort.signal.aborted) return',
    ),
  },
  {
    rule,
    says: 'a completion holds the exit status of the process',
    test: gateway,
    name: 'of a non-zero exit is a success with that status',
    fault: fault(
      'external/runtime/run.ts',
      'value: { status, success: succeeded, finalText: text },',
      'value: { status: { code: 0, signal: null }, success: succeeded, finalText: text },',
    ),
  },
  {
    rule,
    says: 'the final text is none where it cannot be told safely',
    test: gateway,
    name: 'and no final text',
    fault: fault(
      'external/runtime/run.ts',
      'const text = succeeded && finalText !== null',
      'const text = finalText !== null',
    ),
  },
  {
    rule,
    says: 'the completion settles, and the run ends in the log, also where a report cannot be stored',
    test: 'test/domain/external/recording.test.ts',
    name: 'what cannot be stored ends the run in the log too',
    fault: fault('external/runtime/run.ts', '      await this.#endUnrecorded()\n', ''),
  },
  {
    rule,
    says: 'a usage that cannot be is not counted',
    test: 'test/domain/external/recording.test.ts',
    name: 'is told as an error, and the run goes on',
    fault: fault('external/runtime/recorder.ts', 'const told = reportedUsage(usage)', 'const told = usage'),
  },
  {
    rule,
    says: 'a program that an agent may have put into a workspace is not started, nor asked for its version',
    test: 'test/adapters/agents-process/escaped.test.ts',
    name: 'not to be asked for its version',
    fault: {
      file: 'adapters/agents/process/find-agent.ts',
      search: 'inWorkspaces(realOf(folder), dataFolder)',
      replace: 'inWorkspaces(folder, dataFolder)',
    },
  },
  {
    rule,
    says: 'a permission is bound to the input that the person has seen',
    test: 'test/domain/external/decisions.test.ts',
    name: 'is decided once, on what was looked at',
    fault: fault(
      'external/decide.ts',
      'if (command.questionHash !== undefined && command.questionHash !== hash)',
      'if (command.questionHash === null)',
    ),
  },
  {
    rule,
    says: 'a run that has used more than its budget is ended',
    test: 'test/domain/external/decisions.test.ts',
    name: 'is kept with the price where the backend tells tokens alone',
    fault: fault('external/decide.ts', 'if (over !== null && cancelledAt === null)', 'if (over === null)'),
  },
  {
    rule,
    says: 'a child is delegated to a backend only within its rights',
    test: 'test/domain/external/delegation.test.ts',
    fault: fault('tree/rights.ts', 'rights[right] || !level.grants[right]', 'true || !level.grants[right]'),
  },
  {
    rule,
    says: 'a run that another driver has taken ends its process',
    test: 'test/api/servers/agent-leases.test.ts',
    name: 'a run that another process has ended in the log ends its process',
    fault: fault('external/runtime/run.ts', 'cancelledAt !== null || this.#options.log.lost', 'cancelledAt !== null'),
  },
  {
    rule,
    says: 'over the network variables and folders are those of the settings',
    test: http,
    name: 'over the network only listed variables and folders are allowed',
    fault: {
      file: 'api/operations/external/start-agent.ts',
      search: 'if (network) mustBeAllowed',
      replace: 'if (false) mustBeAllowed',
    },
  },
  {
    rule,
    says: 'a request that only an own agent can serve is refused by name',
    test: http,
    name: 'what only an own agent can be asked answers with a named error',
    fault: {
      file: 'api/operations/runs/run-of-agent.ts',
      search: 'if (await isUngoverned(s, agentId)) throw ungoverned(agentId, what)',
      replace: '',
    },
  },
  {
    rule,
    says: 'the run of any backend is replayed from its record to any event',
    test: http,
    name: 'replayed to any event',
    fault: fault('external/runtime/recorded-at.ts', '{ to }))', '{}))'),
  },
]
