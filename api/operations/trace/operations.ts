import { operation } from '../operation.ts'
import { Trace, TraceQuery } from './schemas.ts'
import { traceOf } from './trace.ts'

/** The origin of a value. */
export const TRACE_OPERATIONS = [
  operation({
    name: 'trace',
    http: 'GET /v1/trace',
    right: 'bodies.read',
    summary:
      'Where a line, a call or an event came from: calls, approvals, rules and people, and what the model had read',
    input: { query: TraceQuery },
    output: Trace,
    answers: { 200: 'The chain of authority' },
    mcp: { names: { run: 'runId', agent: 'agentId', call: 'toolCallId' } },
    run: (s, { query }) => traceOf(s, query),
  }),
] as const
