import { fault } from './row.ts'
import type { Rule } from './rules.ts'

const prompt = 'test/domain/spawn/prompt.test.ts'
const runtime = 'test/runtime/spawn.test.ts'
const store = 'test/runtime/context-store.test.ts'
const states = 'test/domain/spawn/agent.test.ts'
const provider = 'test/adapters/agents-cli/provider.test.ts'
const functions = 'test/adapters/functions-mcp/server.test.ts'
const rule = 'seed 004'
const inRuntime = (search: string, replace: string) => fault('external/spawn/runtime/agent-runtime.ts', search, replace)
const inAdapter = (file: string, search: string, replace: string) => ({ file: `adapters/${file}`, search, replace })

/** Every requirement of seed 004 (CONTRACTS 14). */
export const SPAWN: readonly Rule[] = [
  {
    rule,
    says: 'create makes an idle agent and registers it; a duplicate id is rejected',
    test: runtime,
    name: 'a duplicate id is rejected',
    fault: inRuntime("if (this.#agents.has(config.id)) throw duplicate(config.id, 'was created before')", ''),
  },
  {
    rule,
    says: 'run sets the status to running',
    test: states,
    name: 'when it runs and is answered',
    fault: fault('external/spawn/agent.ts', "return { ...agent, status: 'running' }", 'return agent'),
  },
  {
    rule,
    says: 'a second run of an agent is rejected',
    test: states,
    name: 'when it runs a second time',
    fault: fault('external/spawn/agent.ts', "if (agent.status !== 'idle')", 'if (agent.iterations > 99)'),
  },
  {
    rule,
    says: 'the prompt shows the context variable with its reference and summary',
    test: prompt,
    fault: fault('external/spawn/prompt.ts', 'type: ${type}):\\n', 'type: ${type}): '),
  },
  {
    rule,
    says: 'a summary in a prompt has at most 500 tokens',
    test: store,
    name: 'summarizes to at most so many tokens',
    fault: fault('store/variable.ts', 'const bytes = tokens * TOKEN_BYTES', 'const bytes = tokens * 2 * TOKEN_BYTES'),
  },
  {
    rule,
    says: 'the prompt of an agent with a parent says that it is a sub-agent',
    test: prompt,
    fault: fault('external/spawn/prompt.ts', 'if (parentId !== undefined) parts.push(SUB_AGENT)', ''),
  },
  {
    rule,
    says: 'the prompt lists the registered functions in the order of their names',
    test: prompt,
    fault: fault('external/spawn/prompt.ts', '(a.name < b.name ? -1 : 1)', '(a.name < b.name ? 1 : -1)'),
  },
  {
    rule,
    says: 'a reference that does not resolve fails before the provider is called',
    test: runtime,
    name: 'a reference that does not resolve',
    fault: inRuntime(
      'const ref = contextRef === undefined ? undefined : await store.ref(contextRef.key)',
      'const ref = contextRef === undefined ? undefined : await store.ref(contextRef.key).catch(() => undefined)',
    ),
  },
  {
    rule,
    says: 'an erasure of a variable empties every value that it has had',
    test: 'test/projections/context-stores.test.ts',
    fault: fault(
      'store/runtime/context-stores.ts',
      'event.body.key === key) only.add(event.revision)',
      'event.body.key === key) only.clear(), only.add(event.revision)',
    ),
  },
  {
    rule,
    says: 'the tables show which variables were erased, and hold no value',
    test: 'test/projections/context-stores.test.ts',
    fault: {
      file: 'projections/store/rows.ts',
      search: 'erased: erased ? 1 : 0',
      replace: 'erased: 0',
    },
  },
  {
    rule,
    says: 'the result is stored under agent-result-<id>, on success and on failure',
    test: runtime,
    name: 'calls the provider once and waits',
    fault: inRuntime('await store.set(resultKey(id), result ?? null, runId === null ? {} : { runId })', ''),
  },
  {
    rule,
    says: 'a failure of the provider is a result, and the status is failed',
    test: runtime,
    name: 'a failure of the provider is a result',
    fault: inRuntime("({ status: 'failed', result:", "({ status: 'completed', result:"),
  },
  {
    rule,
    says: 'an agent that is cancelled before its run is not run, and its result is empty',
    test: runtime,
    name: 'before its run',
    fault: fault('external/spawn/agent.ts', '      if (agent.cancelled) return agent\n', ''),
  },
  {
    rule,
    says: 'a cancel in flight reaches the process',
    test: runtime,
    name: 'in flight: the process is told',
    fault: inRuntime("running.abort.abort(new ProviderError('CANCELLED', 'cancelled'))", ''),
  },
  {
    rule,
    says: 'the provider ends its process when it is told to',
    test: provider,
    name: 'ends the process at its signal',
    fault: inAdapter(
      'agents/cli/claude-code-provider.ts',
      "const cancel = () => handle.cancel('cancelled')",
      'const cancel = () => undefined',
    ),
  },
  {
    rule,
    says: 'a result that comes after a cancel is discarded',
    test: states,
    name: 'when it is cancelled in flight',
    fault: fault(
      'external/spawn/agent.ts',
      'return isOver(agent) ? agent : { ...agent, status: move.status, result: move.result }',
      'return { ...agent, status: move.status, result: move.result }',
    ),
  },
  {
    rule,
    says: 'getStatus tells how an agent stands',
    test: runtime,
    name: 'calls the provider once and waits',
    fault: inRuntime('Object.assign(agent, moved(agent, move))', 'moved(agent, move)'),
  },
  {
    rule,
    says: 'the provider gives cost, session and turns of a run',
    test: provider,
    name: 'gives the result with cost',
    fault: inAdapter(
      'agents/cli/claude-execution.ts',
      '...(heard.numTurns !== null && { numTurns: heard.numTurns }),',
      '',
    ),
  },
  {
    rule,
    says: 'the provider says with which code its process exited',
    test: provider,
    name: 'exited with code N',
    fault: inAdapter('agents/cli/claude-execution.ts', '`exited with code ${status.code}`', "'failed'"),
  },
  {
    rule,
    says: 'the provider says that an output failed to parse',
    test: provider,
    name: 'failed to parse',
    fault: inAdapter(
      'agents/cli/claude-execution.ts',
      'if (!success || finalText === null)',
      'if (finalText === undefined!)',
    ),
  },
  {
    rule,
    says: 'the provider says that its process failed to spawn',
    test: provider,
    name: 'failed to spawn',
    fault: inAdapter('agents/cli/claude-execution.ts', '`claude failed to spawn: ${message}`', 'message'),
  },
  {
    rule,
    says: 'the provider says that its process timed out',
    test: provider,
    name: 'timed out',
    fault: inAdapter('agents/cli/claude-execution.ts', "if (message.startsWith('timed out'))", "if (message === '')"),
  },
  {
    rule,
    says: 'planned: tokens of all attempts are added up',
    test: runtime,
    name: 'retries with backoff',
    fault: fault('external/spawn/runtime/attempts.ts', 'this.tokenUsage = plus(this.tokenUsage, error.tokenUsage)', ''),
  },
  {
    rule,
    says: 'planned: network errors, time limits, 429 and 529 are tried again, with backoff',
    test: states,
    name: 'are for network errors',
    fault: fault(
      'external/spawn/retry.ts',
      'const STATUSES: readonly unknown[] = [429, 529]',
      'const STATUSES: readonly unknown[] = [429]',
    ),
  },
  {
    rule,
    says: 'planned: nothing else is tried again',
    test: states,
    name: 'are for nothing else',
    fault: fault(
      'external/spawn/retry.ts',
      "return error.network || error.code === 'TIMED_OUT' ||",
      "return error.code !== 'CANCELLED' ||",
    ),
  },
  {
    rule,
    says: 'planned: results are remembered',
    test: runtime,
    name: 'results are remembered',
    fault: inRuntime('if (memory === undefined) return', 'if (memory !== undefined) return'),
  },
  {
    rule,
    says: 'planned: the subprocess can call the functions of the registry',
    test: functions,
    name: 'lists and calls functions',
    fault: inAdapter(
      'mcp/served/server.ts',
      'const answer = await functions.call(name, args,',
      'const answer = await functions.call(name, {},',
    ),
  },
  {
    rule,
    says: 'the server of functions answers the run that knows its token alone',
    test: functions,
    name: 'without its token',
    fault: inAdapter(
      'mcp/served/loopback.ts',
      'return new Response(null, { status: 401 })',
      'return handler.fetch(request)',
    ),
  },
  {
    rule,
    says: 'a missing key gives "Variable not found: <key>"',
    test: store,
    name: 'names a key that is not set',
    fault: fault('store/errors.ts', '`Variable not found: ${key}`', "'Variable not found'"),
  },
  {
    rule,
    says: 'a durable store gives another process the values that were set',
    test: store,
    name: 'gives another process the same',
    fault: fault(
      'store/state.ts',
      'return { variables: withEntry(state.variables, key, held), changes }',
      'return { ...state, changes }',
    ),
  },
  {
    rule,
    says: 'a key of a durable store holds no secret',
    test: store,
    name: 'is refused a key that holds a secret',
    fault: fault('store/runtime/stream-variables.ts', 'if (shown !== key)', 'if (shown === undefined)'),
  },
  {
    rule,
    says: 'a durable store holds no secret',
    test: store,
    name: 'holds no secret',
    fault: fault(
      'store/runtime/stream-variables.ts',
      "await this.#submit({ kind: 'set', key, value }, caused)",
      "await this.#submit({ kind: 'set', key, value: value === null ? null : given }, caused)",
    ),
  },
]
