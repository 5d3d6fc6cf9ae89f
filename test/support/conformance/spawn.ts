import { drop, type Edit, replace, returns, reworded } from '../mutations/edits.ts'
import { fault } from './row.ts'
import type { Rule } from './rules.ts'

const prompt = 'test/domain/spawn/prompt.test.ts'
const runtime = 'test/runtime/tree/spawn.test.ts'
const store = 'test/runtime/context-store.test.ts'
const states = 'test/domain/spawn/agent.test.ts'
const provider = 'test/adapters/agents-cli/provider.test.ts'
const functions = 'test/adapters/functions-mcp/server.test.ts'
const rule = 'seed 004'
const inRuntime = (name: string, edit: Edit) => fault('domain/external/spawn/runtime/agent-runtime.ts', name, edit)

/** Every requirement of seed 004 (CONTRACTS 14). */
export const SPAWN: readonly Rule[] = [
  {
    rule,
    says: 'create makes an idle agent and registers it; a duplicate id is rejected',
    test: runtime,
    name: 'a duplicate id is rejected',
    fault: inRuntime('create', drop('statement', 'duplicate')),
  },
  {
    rule,
    says: 'run sets the status to running',
    test: states,
    name: 'when it runs and is answered',
    fault: fault('domain/external/spawn/agent.ts', 'moved:run', replace('value', 'return running', 'agent')),
  },
  {
    rule,
    says: 'a second run of an agent is rejected',
    test: states,
    name: 'when it runs a second time',
    fault: fault('domain/external/spawn/agent.ts', 'moved:run', replace('condition', 'status', 'false')),
  },
  {
    rule,
    says: 'the prompt shows the context variable with its reference and summary',
    test: prompt,
    fault: fault('domain/external/spawn/prompt.ts', 'buildPrompt', reworded(':\\n', ': ')),
  },
  {
    rule,
    says: 'a summary in a prompt has at most 500 tokens',
    test: store,
    name: 'summarizes to at most so many tokens',
    fault: fault('domain/store/variable.ts', 'summaryOf', replace('operand', 'TOKEN_BYTES', '2 * $')),
  },
  {
    rule,
    says: 'the prompt of an agent with a parent says that it is a sub-agent',
    test: prompt,
    fault: fault('domain/external/spawn/prompt.ts', 'buildPrompt', drop('statement', 'SUB_AGENT')),
  },
  {
    rule,
    says: 'the prompt lists the registered functions in the order of their names',
    test: prompt,
    fault: fault('domain/external/spawn/prompt.ts', 'buildPrompt', replace('operator', '<', '>')),
  },
  {
    rule,
    says: 'a reference that does not resolve fails before the provider is called',
    test: runtime,
    name: 'a reference that does not resolve',
    fault: inRuntime('#prompt', replace('call', 'ref', '$.catch(() => undefined)')),
  },
  {
    rule,
    says: 'an erasure of a variable empties every value that it has had',
    test: 'test/projections/context-stores.test.ts',
    fault: fault('domain/store/runtime/context-stores.ts', '#which', replace('call', 'add', '$0.clear(), $')),
  },
  {
    rule,
    says: 'the tables show which variables were erased, and hold no value',
    test: 'test/projections/context-stores.test.ts',
    fault: fault('projections/store/rows.ts', 'storedVariables', replace('condition', 'erased', 'false')),
  },
  {
    rule,
    says: 'the result is stored under agent-result-<id>, on success and on failure',
    test: runtime,
    name: 'calls the provider once and waits',
    fault: inRuntime('#keep', drop('statement', 'set')),
  },
  {
    rule,
    says: 'a failure of the provider is a result, and the status is failed',
    test: runtime,
    name: 'a failure of the provider is a result',
    fault: inRuntime('#perform', replace('word', 'failed', 'completed')),
  },
  {
    rule,
    says: 'an agent that is cancelled before its run is not run, and its result is empty',
    test: runtime,
    name: 'before its run',
    fault: fault('domain/external/spawn/agent.ts', 'moved:run', replace('condition', 'cancelled', 'false')),
  },
  {
    rule,
    says: 'a cancel in flight reaches the process',
    test: runtime,
    name: 'in flight: the process is told',
    fault: inRuntime('cancel', drop('statement', 'CANCELLED')),
  },
  {
    rule,
    says: 'the provider ends its process when it is told to',
    test: provider,
    name: 'ends the process at its signal',
    fault: fault('adapters/agents/cli/claude-code-provider.ts', 'cancel', returns('undefined')),
  },
  {
    rule,
    says: 'a result that comes after a cancel is discarded',
    test: states,
    name: 'when it is cancelled in flight',
    fault: fault('domain/external/spawn/agent.ts', 'moved:ended', replace('condition', 'isOver', 'false')),
  },
  {
    rule,
    says: 'getStatus tells how an agent stands',
    test: runtime,
    name: 'calls the provider once and waits',
    fault: inRuntime('#move', replace('call', 'assign', '$2')),
  },
  {
    rule,
    says: 'the provider gives cost, session and turns of a run',
    test: provider,
    name: 'gives the result with cost',
    fault: fault('adapters/agents/cli/claude-execution.ts', 'executed', drop('entry', 'numTurns')),
  },
  {
    rule,
    says: 'the provider says with which code its process exited',
    test: provider,
    name: 'exited with code N',
    fault: fault('adapters/agents/cli/claude-execution.ts', 'executed', reworded('exited with', 'failed with')),
  },
  {
    rule,
    says: 'the provider says that an output failed to parse',
    test: provider,
    name: 'failed to parse',
    fault: fault('adapters/agents/cli/claude-execution.ts', 'executed', replace('condition', 'success', 'false')),
  },
  {
    rule,
    says: 'the provider says that its process failed to spawn',
    test: provider,
    name: 'failed to spawn',
    fault: fault('adapters/agents/cli/claude-execution.ts', 'executionError', reworded('failed to spawn', 'failed')),
  },
  {
    rule,
    says: 'the provider says that its process timed out',
    test: provider,
    name: 'timed out',
    fault: fault('adapters/agents/cli/claude-execution.ts', 'executionError', drop('statement', 'TIMED_OUT')),
  },
  {
    rule,
    says: 'planned: tokens of all attempts are added up',
    test: runtime,
    name: 'retries with backoff',
    fault: fault('domain/external/spawn/runtime/attempts.ts', 'failed', drop('statement', 'addTokens')),
  },
  {
    rule,
    says: 'planned: network errors, time limits, 429 and 529 are tried again, with backoff',
    test: states,
    name: 'are for network errors',
    fault: fault('domain/external/spawn/retry-policy.ts', 'STATUSES', drop('entry', '529')),
  },
  {
    rule,
    says: 'planned: nothing else is tried again',
    test: states,
    name: 'are for nothing else',
    fault: fault('domain/external/spawn/retry-policy.ts', 'isTransient', replace('operand', 'TIMED_OUT', 'true')),
  },
  {
    rule,
    says: 'planned: results are remembered',
    test: runtime,
    name: 'results are remembered',
    fault: inRuntime('#keep', replace('operator', '=== memory', '!==')),
  },
  {
    rule,
    says: 'planned: the subprocess can call the functions of the registry',
    test: functions,
    name: 'lists and calls functions',
    fault: fault('adapters/mcp/served/server.ts', 'offering', replace('entry', 'args', '{}')),
  },
  {
    rule,
    says: 'the server of functions answers the run that knows its token alone',
    test: functions,
    name: 'without its token',
    fault: fault('adapters/mcp/served/loopback.ts', 'serveOnLoopback', replace('condition', 'isBearer', 'false')),
  },
  {
    rule,
    says: 'a missing key gives "Variable not found: <key>"',
    test: store,
    name: 'names a key that is not set',
    fault: fault('domain/store/errors.ts', 'variableNotFound', reworded('Variable not found', 'Not found')),
  },
  {
    rule,
    says: 'a durable store gives another process the values that were set',
    test: store,
    name: 'gives another process the same',
    fault: fault('domain/store/state.ts', 'evolveStore', replace('value', 'variables held', 'state.variables')),
  },
  {
    rule,
    says: 'a key of a durable store holds no secret',
    test: store,
    name: 'is refused a key that holds a secret',
    fault: fault('domain/store/runtime/stream-variables.ts', 'set', replace('condition', 'shown', 'false')),
  },
  {
    rule,
    says: 'a durable store holds no secret',
    test: store,
    name: 'holds no secret',
    fault: fault('domain/store/runtime/stream-variables.ts', 'set', replace('value', 'value', 'given')),
  },
]
