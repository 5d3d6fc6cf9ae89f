import { describe, expect, test } from 'vitest'
import { ClaudeCodeProvider } from '../../../adapters/agents/cli/claude-code-provider.ts'
import { AgentError } from '../../../domain/external/errors.ts'
import type { ExternalRuns, StartedBy } from '../../../domain/ports/external.ts'
import { puppetGateway } from '../../support/external/in-process.ts'

// Seed 004, LLM Provider Interface; CONTRACTS 14, Provider. With the real harness: test/agents/spawn.test.ts.

const USAGE = { scope: 'run', inputTokens: 9, cachedInputTokens: 4, outputTokens: 2 } as const
const COST = { nanoDollars: 250_000_000, scope: 'run' } as const

function providing() {
  const { gateway, puppet, log } = puppetGateway()
  const starts: StartedBy[] = []
  const externalRuns: ExternalRuns = {
    run: (_, request, asked = {}) => {
      starts.push(asked)
      return gateway.run('fake', request, asked)
    },
    at: () => undefined,
    recorded: async () => ({ state: log.last.state, outcome: null, events: (async function* () {})() }),
    stop: async () => undefined,
  }
  return { puppet, starts, log, provider: new ClaudeCodeProvider({ keepup: { externalRuns } }) }
}
const error = (run: Promise<unknown>) => run.then(Promise.reject, (reason) => reason)

describe('the provider', () => {
  test('gives the result with cost, tokens, session and turns', async () => {
    const { provider, puppet } = providing()
    const run = provider.execute({ prompt: 'Go.', model: 'm' })
    await puppet.text('I look.')
    await puppet.emit({
      sessionId: 's1',
      usage: { ...USAGE, cost: COST },
      events: [{ kind: 'Status', data: { turns: 3 } }],
    })
    puppet.exit()
    expect(await run).toEqual({
      ...{ result: 'done', costUsd: 0.25, sessionId: 's1', numTurns: 3, durationMs: expect.any(Number) },
      runId: expect.stringMatching(/^\w+$/),
      tokenUsage: { inputTokens: 9, outputTokens: 2, totalTokens: 11 },
    })
  })

  test('exited with code N, with what the attempt has used', async () => {
    const { provider, puppet } = providing()
    const run = error(provider.execute({ prompt: 'Go.' }))
    const data = { apiErrorStatus: 529 }
    await puppet.emit({ usage: { ...USAGE, cost: COST }, events: [{ kind: 'Error', message: 'Overloaded', data }] })
    puppet.exit({ status: { code: 3, signal: null }, success: false, finalText: null })
    expect(await run).toMatchObject({
      ...{
        code: 'EXITED',
        message: expect.stringMatching(/^claude exited with code 3: /),
        exitCode: 3,
        status: 529,
        costUsd: 0.25,
      },
      tokenUsage: { totalTokens: 11 },
    })
  })

  test('failed to parse', async () => {
    const { provider, puppet } = providing()
    const run = error(provider.execute({ prompt: 'Go.' }))
    puppet.exit({ status: { code: 0, signal: null }, success: false, finalText: null })
    expect(await run).toMatchObject({ code: 'PARSE_FAILED', message: expect.stringContaining('failed to parse') })
  })

  test('failed to spawn', async () => {
    const { provider, puppet } = providing()
    const run = error(provider.execute({ prompt: 'Go.' }))
    puppet.fail(new AgentError('Backend', 'the agent could not be started (ENOENT)'))
    expect(await run).toMatchObject({
      code: 'SPAWN_FAILED',
      message: expect.stringContaining('failed to spawn: the agent'),
    })
  })

  test('timed out', async () => {
    const { provider, puppet, log } = providing()
    const run = error(provider.execute({ prompt: 'Go.', timeoutMs: 70 }))
    puppet.fail(new AgentError('Backend', 'timed out after 70 ms'))
    expect(await run).toMatchObject({ code: 'TIMED_OUT', message: 'claude timed out after 70 ms' })
    expect(log.last.state.request.timeoutMs).toBe(70)
  })

  test('ends the process at its signal', async () => {
    const { provider, puppet } = providing()
    const abort = new AbortController()
    const run = error(provider.execute({ prompt: 'Go.', signal: abort.signal }))
    await puppet.text('working')
    abort.abort()
    expect(puppet.run!.signal.aborted).toBe(true)
    expect(await run).toMatchObject({ code: 'CANCELLED' })
  })

  test('gives each attempt of a name an id of its own, and tells the budget', async () => {
    const { provider, puppet, starts } = providing()
    const name = { store: 'notes', agentId: 'a' }
    const one = (attempt: number) => provider.execute({ prompt: 'Go.', agentId: 'a', name, attempt, maxBudgetUsd: 2 })
    const runs = [error(one(1)), error(one(2)), error(one(1))]
    puppet.exit()
    await Promise.all(runs)
    const ids = starts.map(({ agentId }) => agentId)
    expect([ids[0] === ids[2], ids[0] === ids[1], starts[0]!.name]).toEqual([true, false, 'a'])
    expect(starts[0]!.budget).toEqual({ tokens: null, nanoDollars: 2_000_000_000 })
  })
})
