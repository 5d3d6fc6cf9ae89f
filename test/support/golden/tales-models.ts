import { MemoryLimiter } from '../../../adapters/memory/rate-limiter.ts'
import type { HealthFigures } from '../../../domain/agent/routing/decision.ts'
import { ModelError } from '../../../domain/calls/errors.ts'
import type { Tool } from '../../../domain/ports/index.ts'
import { call, calls, completes, testModel, testSpec } from '../harness.ts'
import { MemoryRequestCache } from '../models/memory-request-cache.ts'
import { tool } from '../story.ts'
import { VirtualClock } from '../time/virtual-clock.ts'
import { tale } from './tale.ts'

// Runs with models chosen by rules, delayed by a limit, and answered from the request cache.

const price = { asOf: '2026-01-01', input: 1_000_000, output: 2_000_000, cacheRead: 0, cacheWrite: 0 }
const known = [
  { ...testModel, id: 'blind', price, tools: false },
  { ...testModel, id: 'fast', price, vision: true, quality: 3 },
  { ...testModel, id: 'slow' },
  { ...testModel, id: 'unseen', quality: 9 },
]
const ids = known.map(({ id }) => id)

const rest = { errors: 0, timeouts: 0, medianMs: 50 }
const FIGURES: Readonly<Record<string, readonly HealthFigures[]>> = {
  blind: [{ ...rest, calls: 3, health: 'healthy' }],
  fast: [
    { ...rest, calls: 3, errors: 2, health: 'half_open', breach: 'errorRate' },
    { calls: 3, errors: 0, timeouts: 3, medianMs: null, health: 'unhealthy', breach: 'timeoutRate' },
  ],
  slow: [{ ...rest, calls: 4, medianMs: 90_000, health: 'unhealthy', breach: 'slowMs' }],
}

const when = { phases: ['plan'], roles: ['Seer'], risks: ['high', 'medium'], purposes: ['summary'], budgetBelow: 0.5 }
const rules = [
  { name: 'never', when, policy: 'cost', models: ['fast'], needs: { vision: true, contextTokens: 1_000 } },
  { name: 'turns', when: { purposes: ['turn'], risks: ['low'] }, policy: 'latency' },
  { name: 'harm', when: { risks: ['high'] }, policy: 'quality', needs: {} },
  { name: 'rest', when: { purposes: ['turn'] }, policy: 'cost', needs: { vision: true } },
  { name: 'last', policy: 'quality' },
]
const routing = { models: ids, rules }
const routed = { requested: 'fast', safeDefault: 'fast', known, routing }

/**
 * Decisions of each policy, with and without a budget, under each risk; a delay, a refusal with a wait, and a cache
 * hit.
 */
export async function models() {
  const clock = new VirtualClock()
  const limiter = new MemoryLimiter(clock, () => ({ key: 'k', perMinute: null }))
  let looks = 0
  const health = {
    begin: () => () => undefined,
    figures: (model: string) => FIGURES[model]?.[Math.floor(looks++ / 6) % FIGURES[model].length],
  }
  const ports = { clock, limiter, health, cache: new MemoryRequestCache() }
  const busy = new ModelError('RATE_LIMITED', 'slow down', { transient: true, retryAfterMs: 2_000 })
  const plain = { requested: 'fast', safeDefault: 'fast', known, cache: true }
  const look = tool('look')
  const write = tool('write', { effect: 'idempotent' })
  const harm = tool('harm', { effect: 'irreversible' })
  const answers = [busy, calls(call('look')), calls(call('look')), completes('looked')]
  let told = 0
  const run = await tale({
    says: [() => answers[told++] ?? completes()],
    tools: [look, write, harm],
    spec: { models: routed },
    ports,
  })
  await limiter.refused('fast', 1_000)
  await run.drive()
  const others: [object, readonly Tool[]][] = [
    [{ models: routed, budget: { tokens: 50_000, nanoDollars: null } }, [write]],
    [{ models: routed }, [look]],
    [{ models: { ...plain, safeDefault: 'slow' } }, [look]],
    [{ models: { ...plain, safeDefault: 'slow' } }, [look]],
  ]
  for (const [spec, tools] of others) {
    const runId = await run.start(testSpec(spec as Record<string, unknown>, tools), 'again')
    await run.driveOther(runId)
  }
  return run.log
}
