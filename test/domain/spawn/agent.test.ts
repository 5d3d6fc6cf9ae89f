import { describe, expect, test } from 'vitest'
import { type Agent, type AgentMove, checkConfig, created, moved } from '../../../domain/external/spawn/agent.ts'
import { ProviderError } from '../../../domain/external/spawn/errors.ts'
import { checkFunction } from '../../../domain/external/spawn/functions.ts'
import { isTransient, NO_RETRIES, retryDelay } from '../../../domain/external/spawn/retry-policy.ts'

// Seed 004, Status Tracking and Cancellation; CONTRACTS 14.

const CONFIG = { id: 'agent-001', prompt: 'Go.', model: 'm' }
const afterMoves = (...moves: AgentMove[]): Agent => moves.reduce(moved, created(CONFIG))
const done = { move: 'ended', status: 'completed', result: 'r' } as const

describe('given an idle agent', () => {
  test('it has no iteration, no tokens, and is not cancelled', () => {
    expect(created(CONFIG)).toEqual({
      ...{ id: 'agent-001', config: CONFIG, status: 'idle', iterations: 0, cancelled: false },
      tokenUsage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
    })
  })

  test('when it runs and is answered, then it is completed after one iteration', () => {
    expect(afterMoves({ move: 'run' })).toMatchObject({ status: 'running' })
    expect(afterMoves({ move: 'run' }, { move: 'attempt' }, done)).toMatchObject({
      ...{ status: 'completed', iterations: 1, result: 'r' },
    })
  })

  test('when it runs a second time, then that is refused, also after its end', () => {
    expect(() => afterMoves({ move: 'run' }, { move: 'run' })).toThrow('"agent-001" was run before')
    expect(() => afterMoves({ move: 'run' }, done, { move: 'run' })).toThrow('"agent-001" was run before')
  })

  test('when it is cancelled before its run, then the run changes nothing', () => {
    expect(afterMoves({ move: 'cancel' }, { move: 'run' })).toMatchObject({
      status: 'cancelled',
      cancelled: true,
      iterations: 0,
    })
  })

  test('when it is cancelled in flight, then a late result changes nothing', () => {
    const late = afterMoves({ move: 'run' }, { move: 'attempt' }, { move: 'cancel' }, done)
    expect(late).toMatchObject({ status: 'cancelled', cancelled: true })
    expect(late).not.toHaveProperty('result')
  })

  test('when it is cancelled after its end, then it stays as it was', () => {
    expect(afterMoves({ move: 'run' }, done, { move: 'cancel' })).toMatchObject({
      status: 'completed',
      cancelled: false,
    })
  })
})

test.each([
  [{ ...CONFIG, id: ' ' }, 'the id of an agent'],
  [{ ...CONFIG, id: 'a"b' }, 'without quotes'],
  [{ ...CONFIG, prompt: '\n' }, 'may not be blank'],
  [{ ...CONFIG, model: '' }, 'name the model'],
  [{ ...CONFIG, onComplete: 'drop' as never }, 'return, merge or store'],
  [{ ...CONFIG, parentId: 'agent-001' }, 'its own parent'],
])('what cannot be run is refused: %j', (config, why) => {
  expect(() => checkConfig(config)).toThrow(why)
})

describe('retries', () => {
  const transient = [
    new ProviderError('EXITED', 'x', { status: 429 }),
    new ProviderError('EXITED', 'x', { status: 529 }),
    new ProviderError('EXITED', 'x', { network: true }),
    new ProviderError('TIMED_OUT', 'x'),
    Object.assign(new Error('x'), { status: 429 }),
    new Error('fetch failed', { cause: Object.assign(new Error('x'), { code: 'ECONNRESET' }) }),
    Object.assign(new Error('x'), { name: 'TimeoutError' }),
  ]
  const lasting = [
    new ProviderError('EXITED', 'x', { exitCode: 1 }),
    new ProviderError('EXITED', 'x', { status: 400 }),
    new ProviderError('SPAWN_FAILED', 'x'),
    new ProviderError('PARSE_FAILED', 'x'),
    new ProviderError('CANCELLED', 'x'),
    new Error('x'),
    'x',
  ]
  test.each(transient)('are for network errors, time limits, 429 and 529: %o', (error) => {
    expect(isTransient(error)).toBe(true)
  })
  test.each(lasting)('are for nothing else: %o', (error) => {
    expect(isTransient(error)).toBe(false)
  })
  test('none by default; else the delays grow up to their cap', () => {
    const [error] = transient
    expect(retryDelay(NO_RETRIES, 1, error, 0)).toBeNull()
    const policy = { ...NO_RETRIES, maxRetries: 9 }
    expect([1, 2, 3, 9].map((retry) => retryDelay(policy, retry, error, 0))).toEqual([1_000, 2_000, 4_000, 60_000])
    expect(retryDelay(policy, 10, error, 0)).toBeNull()
    expect(retryDelay(policy, 1, lasting[0], 0)).toBeNull()
  })
})

test.each([
  [{ name: '1st', description: 'd', parameters: { type: 'object' } }, 'begins with a letter'],
  [{ name: 'f', description: 'two\nlines', parameters: { type: 'object' } }, 'one line'],
  [{ name: 'f', description: 'd', parameters: { type: 'string' } }, 'JSON Schema'],
])('a function that cannot be offered is refused: %j', (spec, why) => {
  expect(() => checkFunction(spec)).toThrow(why)
})
