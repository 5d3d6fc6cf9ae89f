import { drop, replace } from '../mutations/edits.ts'
import { fault } from './row.ts'
import type { Rule } from './rules.ts'

const gateway = 'test/domain/external/gateway.test.ts'
const http = 'test/api/http/agents.test.ts'
const rule = 'seed 002'

/** Every requirement of seed 002 (CONTRACTS 13), and keepup's additions. */
export const AGENTS: readonly Rule[] = [
  {
    rule,
    says: 'the gateway resolves a backend for the kind, otherwise UnknownBackend',
    test: gateway,
    name: 'run rejects with UnknownBackend before any other check',
    fault: fault('domain/external/runtime/gateway.ts', '#backend', replace('word', 'UnknownBackend', 'InvalidRequest')),
  },
  {
    rule,
    says: 'the backend validates the capabilities that are asked for; unsupported operations fail closed',
    test: 'test/domain/external/request.test.ts',
    fault: fault('domain/external/request.ts', 'checkKeys', replace('condition', 'refused', 'true')),
  },
  {
    rule,
    says: 'keys and values of extensions are validated before any process is started',
    test: gateway,
    name: 'precedes every spawn',
    fault: fault('domain/external/runtime/gateway.ts', 'run', replace('call', 'checkRequest', 'asked')),
  },
  {
    rule,
    says: 'a run returns a handle with an event stream and a completion',
    test: gateway,
    name: 'several consumers each see all events in order',
    fault: fault('domain/external/runtime/event-reader.ts', '#pull', replace('value', '#read', '1')),
  },
  {
    rule,
    says: 'a backend with agent_api.events.live emits events before its process exits',
    test: 'test/adapters/agents-process/harness.test.ts',
    name: 'tells its events while it runs',
    fault: fault('adapters/agents/process/process.ts', '#read', replace('call', 'push', '($, [])')),
  },
  {
    rule,
    says: 'the completion settles only when the process has exited and the event stream has ended',
    test: gateway,
    name: 'settles after the process has exited and the events have ended for the consumer',
    fault: fault('domain/external/runtime/run-handle.ts', '#trySettle', drop('operand', '#readers')),
  },
  {
    rule,
    says: 'events are emitted in the order in which the mapping made them',
    test: 'test/domain/external/bounds.test.ts',
    name: 'order and content stay',
    fault: fault('domain/external/batch.ts', 'add', replace('call', 'push #events', '$0.unshift($1)')),
  },
  {
    rule,
    says: 'a process that cannot be terminated is reported by the completion as an error',
    test: gateway,
    name: 'a process that does not end is told as such',
    fault: fault('domain/external/runtime/run.ts', '#failed', drop('operand', 'CANCELLED')),
  },
  {
    rule,
    says: 'to drop the handle asks for the end of the process',
    test: gateway,
    name: 'asyncDispose of the handle cancels',
    fault: fault('domain/external/runtime/run-handle.ts', 'RunHandle.asyncDispose', drop('statement', 'cancel')),
  },
  {
    rule,
    says: 'an operation that becomes unsupported mid-run completes with that error, and emits an Error event',
    test: gateway,
    name: 'an operation that becomes unsupported mid-run',
    fault: fault('domain/external/runtime/run.ts', '#failed', replace('value', 'code told', "'Backend'")),
  },
  {
    rule,
    says: 'the completion settles exactly once, and nothing is asked of the run from then on',
    test: gateway,
    name: 'is a no-op once the completion has settled',
    fault: fault('domain/external/runtime/run.ts', 'cancel', drop('operand', 'settled')),
  },
  {
    rule,
    says: 'a completion holds the exit status of the process',
    test: gateway,
    name: 'of a non-zero exit is a success with that status',
    fault: fault('domain/external/runtime/run.ts', '#exited', replace('value', 'status', '{ code: 0, signal: null }')),
  },
  {
    rule,
    says: 'the final text is none where it cannot be told safely',
    test: gateway,
    name: 'and no final text',
    fault: fault('domain/external/runtime/run.ts', '#exited', drop('operand', 'succeeded')),
  },
  {
    rule,
    says: 'the completion settles, and the run ends in the log, also where a report cannot be stored',
    test: 'test/domain/external/recording.test.ts',
    name: 'what cannot be stored ends the run in the log too',
    fault: fault('domain/external/runtime/run.ts', '#perform', drop('statement', '#endUnrecorded')),
  },
  {
    rule,
    says: 'a usage that cannot be is not counted',
    test: 'test/domain/external/recording.test.ts',
    name: 'is told as an error, and the run goes on',
    fault: fault('domain/external/runtime/recorder.ts', 'emit', replace('call', 'reportedUsage', '$1')),
  },
  {
    rule,
    says: 'a program that an agent may have put into a workspace is not started, nor asked for its version',
    test: 'test/adapters/agents-process/escaped.test.ts',
    name: 'not to be asked for its version',
    fault: fault('adapters/agents/process/find-agent.ts', 'programOf', replace('call', 'realOf', '$1')),
  },
  {
    rule,
    says: 'a permission is bound to the input that the person has seen',
    test: 'test/domain/external/decisions.test.ts',
    name: 'is decided once, on what was looked at',
    fault: fault('domain/external/decide.ts', 'permit', replace('condition', 'questionHash', 'false')),
  },
  {
    rule,
    says: 'a run that has used more than its budget is ended',
    test: 'test/domain/external/decisions.test.ts',
    name: 'is kept with the price where the backend tells tokens alone',
    fault: fault('domain/external/decide.ts', 'used', replace('condition', 'cancelledAt', 'false')),
  },
  {
    rule,
    says: 'a child is delegated to a backend only within its rights',
    test: 'test/domain/external/delegation.test.ts',
    fault: fault('domain/tree/rights.ts', 'levelFor', replace('operand', 'rights', 'true')),
  },
  {
    rule,
    says: 'a run that another driver has taken ends its process',
    test: 'test/api/servers/agent-leases.test.ts',
    name: 'a run that another process has ended in the log ends its process',
    fault: fault('domain/external/runtime/run.ts', '#onNews', drop('operand', 'lost')),
  },
  {
    rule,
    says: 'over the network variables and folders are those of the settings',
    test: http,
    name: 'over the network only listed variables and folders are allowed',
    fault: fault('api/operations/external/start-agent.ts', 'startAgent', replace('condition', 'network', 'false')),
  },
  {
    rule,
    says: 'a request that only an own agent can serve is refused by name',
    test: http,
    name: 'what only an own agent can be asked answers with a named error',
    fault: fault('api/operations/runs/run-of-agent.ts', 'mustGovern', replace('condition', 'isUngoverned', 'false')),
  },
  {
    rule,
    says: 'the run of any backend is replayed from its record to any event',
    test: http,
    name: 'replayed to any event',
    fault: fault('domain/external/runtime/recorded-at.ts', 'recordedAt', drop('entry', 'to')),
  },
]
