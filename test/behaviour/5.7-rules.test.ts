import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { route } from '../../domain/agent/routing/routing.ts'
import { ModelHealth } from '../../domain/agent/runtime/model-health.ts'
import type { AgentState } from '../../domain/agent/state/state.ts'
import { ModelError } from '../../domain/calls/errors.ts'
import { expectFunctionOfFacts } from '../support/function-of-facts.ts'
import { call, calls, completes, testModel } from '../support/harness.ts'
import { given, type Said, tool } from '../support/story.ts'
import { VirtualClock } from '../support/time/virtual-clock.ts'

const price = (input: number) => ({ asOf: 'now', input, output: input * 5, cacheRead: 0, cacheWrite: input })
const dear = { ...testModel, id: 'dear', price: price(10_000_000_000), quality: 9 }
const mid = { ...testModel, id: 'mid', price: price(1_000_000_000), quality: 5 }
const cheap = { ...testModel, id: 'cheap', price: price(100_000_000), quality: 1 }
const known = [dear, mid, cheap]
const ids = known.map(({ id }) => id)

const routed = (rules: object[], more: object = {}) => ({
  models: { requested: 'dear', safeDefault: 'mid', known, routing: { models: ids, rules }, ...more },
})
const rule = (name: string, policy: string, more: object = {}) => ({ name, policy, ...more })
const network = new ModelError('NETWORK', 'reset', { transient: true })

async function decisions(rules: object[], says: readonly Said[] = [completes()], more: object = {}) {
  const run = await given({ says, spec: { ...routed(rules), ...more }, tools: [tool('look')] })
  await run.drive()
  return (await run.of('model_routed')).map(({ body }) => body)
}

describe('5.7 rules', () => {
  test('the first rule that matches decides, by its policy', async () => {
    expect((await decisions([rule('a', 'cost')]))[0]).toMatchObject({ resolved: 'cheap', policy: 'cost', rule: 'a' })
    expect((await decisions([rule('a', 'quality'), rule('b', 'cost')]))[0]).toMatchObject({ resolved: 'dear' })
    const [skipped] = await decisions([rule('a', 'cost', { when: { roles: ['Coder'] } }), rule('b', 'quality')])
    expect(skipped).toMatchObject({ rule: 'b', resolved: 'dear', purpose: 'turn', requested: 'dear' })
  })

  test('the id breaks ties', async () => {
    const equal = known.map((model) => ({ ...model, quality: 3 }))
    const [first] = await decisions([rule('a', 'quality')], [completes()], {
      models: { ...routed([rule('a', 'quality')]).models, known: equal },
    })
    expect(first?.resolved).toBe('cheap')
  })

  test.each([
    ['phase', { phases: ['plan'] }, { phases: ['other'] }],
    ['role', { roles: ['Thinker'] }, { roles: ['Coder'] }],
    ['risk', { risks: ['low'] }, { risks: ['medium', 'high'] }],
    ['purpose', { purposes: ['turn'] }, { purposes: ['summary'] }],
    ['budget', { budgetBelow: 1 }, { budgetBelow: 0.01 }],
  ])('rules match on %s', async (what, holds, fails) => {
    const phases = [{ name: 'plan', allowedTools: ['look'] }]
    const role = { name: 'Thinker', profile: '', goal: '', phases, qualityGates: [], maxReactLoop: 5 }
    const says = [calls(call('look')), completes()]
    const more = { role, budget: { tokens: 100_000, nanoDollars: null } }
    const at = what === 'budget' ? 1 : 0
    const of = async (when: object) => (await decisions([rule('a', 'cost', { when })], says, more))[at]
    expect(await of(holds)).toMatchObject({ rule: 'a', resolved: 'cheap' })
    const failed = await of(fails)
    expect(failed).toMatchObject({ resolved: 'mid', reason: 'no rule matches; the safe default is used' })
    expect(failed?.basis).toMatchObject({ risk: 'low' })
  })

  test('the risk is the worst that an offered tool can do', async () => {
    const spec = routed([rule('careful', 'quality', { when: { risks: ['high'] } }), rule('other', 'cost')])
    const harm = tool('harm', { effect: 'irreversible' })
    const run = await given({ says: [completes()], tools: [harm, tool('look')], spec })
    await run.drive()
    expect((await run.of('model_routed'))[0]?.body).toMatchObject({ rule: 'careful', basis: { risk: 'high' } })
  })

  test('a model that cannot serve is refused, with the reason', async () => {
    const models = [{ ...cheap, tools: false }, { ...mid, contextTokens: 1_000 }, dear]
    const needs = { contextTokens: 50_000 }
    const spec = { models: { ...routed([rule('a', 'cost', { needs })]).models, known: models } }
    const run = await given({ says: [completes()], spec })
    await run.drive()
    const [first] = await run.of('model_routed')
    expect(first?.body).toMatchObject({ resolved: 'dear', rule: 'a' })
    expect(first?.body.candidates?.map(({ model, refused }) => [model, refused])).toEqual([
      ['dear', undefined],
      ['mid', 'its context of 1000 tokens is less than 50000'],
      ['cheap', 'it cannot call tools'],
    ])
    const sees = await decisions([rule('a', 'cost', { needs: { vision: true } })])
    expect(sees[0]).toMatchObject({ resolved: 'mid', reason: expect.stringContaining('no model can serve') })
  })

  test('a model that the budget has no room for is refused', async () => {
    const [first] = await decisions([rule('best', 'quality')], [completes()], {
      budget: { tokens: null, nanoDollars: 60_000_000 },
    })
    expect(first).toMatchObject({ resolved: 'mid', rule: 'best' })
    expect(first?.candidates?.[0]).toMatchObject({ model: 'dear', refused: expect.stringContaining('budget') })
  })

  test('a rule that fails gives the safe default, with the reason', () => {
    const state = { spec: { models: routed([rule('a', 'cost')]).models } } as unknown as AgentState
    const rules = {
      config: { models: ['gone'], rules: [{ name: 'a', policy: 'cost' as const }] },
      ...{ phase: '', role: null, callsTools: false, models: new Map() },
      basis: { risk: 'low' as const, budgetLeft: null, inputTokens: 1 },
    }
    const { requested, safeDefault } = state.spec.models
    const facts = { purpose: 'turn' as const, requested, safeDefault, known: ids, failed: null, ofTurn: null, rules }
    expect(route(facts)).toMatchObject({
      resolved: 'mid',
      reason: 'rule "a" failed: "gone" is not among the run\'s models; the safe default is used',
    })
  })

  test.each([
    ['a foreign model', { models: ['cheap'], rules: [rule('a', 'cost', { models: ['dear'] })] }, /routing.models/],
    ['two rules of one name', { models: ['cheap'], rules: [rule('a', 'cost'), rule('a', 'cost')] }, /another rule/],
  ])('%s is refused', async (_, routing, said) => {
    await expect(given({ says: [completes()], spec: routed([], { routing }) })).rejects.toThrow(said)
  })

  test("models that are not the run's are refused at start", async () => {
    const routing = { models: ['cheap', 'gone'], rules: [rule('a', 'cost')] }
    await expect(given({ says: [completes()], spec: routed([], { routing }) })).rejects.toThrow(/"gone" is not among/)
  })

  test('a fork that names a model has chosen', async () => {
    const run = await given({
      says: [calls(call('look')), completes()],
      tools: [tool('look')],
      spec: routed([rule('a', 'cost')]),
    })
    await run.drive()
    const { runId } = await run.runtime.fork(
      run.runId,
      { turn: 1 },
      { model: 'dear' },
      { by: { kind: 'user', id: 'u' } },
    )
    await run.runtime.drive(runId, { signal: new AbortController().signal })
    expect(run.requests.at(-1)?.model).toBe('dear')
  })
})

describe('5.7.4 failures of routed models', () => {
  const spec = { ...routed([rule('a', 'cost')]), retry: { maxRetries: 0, backoffMs: 10, modelOutageMs: 3_600_000 } }

  test('the next healthy model serves in the next turn, and the same one within a turn', async () => {
    const run = await given({ says: [network, network, completes()], spec: { ...spec, retry: { maxRetries: 1 } } })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(run.requests.map(({ model }) => model)).toEqual(['cheap', 'cheap', 'mid'])
    const [, , second] = (await run.of('model_routed')).map(({ body }) => body)
    expect(second?.candidates?.[2]).toMatchObject({ model: 'cheap', refused: 'it has failed since the last answer' })
    expect(await run.of('turn_start')).toHaveLength(2)
  })

  test('the outage begins when every model has failed, the safe default too', async () => {
    const run = await given({ says: [...Array<Said>(5).fill(network), completes()], spec })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(run.requests.map(({ model }) => model)).toEqual(['cheap', 'mid', 'dear', 'dear', 'dear', 'dear'])
    expect((await run.of('error')).map(({ body }) => body.outage ?? false)).toEqual([false, false, true, true, true])
    expect((await run.runtime.verify(run.runId)).problems).toEqual([])
  })

  test('an answer forgives all of them', async () => {
    const says = [network, calls(call('look')), completes()]
    const run = await given({ says, spec, tools: [tool('look')] })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(run.requests.map(({ model }) => model)).toEqual(['cheap', 'mid', 'cheap'])
  })
})

describe('health', () => {
  test('a model that other runs have seen fail is avoided, then tried by one call', async () => {
    const clock = new VirtualClock()
    const health = new ModelHealth(clock)
    for (let n = 0; n < 3; n++) health.begin('cheap')('error')
    const spec = routed([rule('a', 'cost')])
    const first = await given({ says: [completes()], spec, ports: { clock, health } })
    await first.drive()
    const [decision] = await first.of('model_routed')
    expect(decision?.body).toMatchObject({ resolved: 'mid' })
    expect(decision?.body.candidates?.[2]).toMatchObject({
      refused: 'it is unhealthy (errorRate)',
      figures: { calls: 3, errors: 3, timeouts: 0, medianMs: null, health: 'unhealthy', breach: 'errorRate' },
    })
    await clock.sleep(31_000)
    const second = await given({ says: [completes()], spec, ports: { clock, health } })
    await second.drive()
    expect((await second.of('model_routed'))[0]?.body).toMatchObject({
      resolved: 'cheap',
      reason: expect.stringContaining('whether it serves again'),
    })
    expect(health.figures('cheap')).toMatchObject({ health: 'healthy', calls: 1 })
  })

  test('the lowest rolling median is the fastest, and what was not measured is measured', async () => {
    const clock = new VirtualClock()
    const health = new ModelHealth(clock)
    const takes = async (model: string, ms: number) => {
      const end = health.begin(model)
      await clock.sleep(ms)
      end('answer')
    }
    await takes('cheap', 900)
    await takes('dear', 300)
    const spec = routed([rule('fast', 'latency')])
    const chosen = async () => {
      const run = await given({ says: [completes()], spec, ports: { clock, health } })
      await run.drive()
      return (await run.of('model_routed'))[0]?.body.resolved
    }
    expect(await chosen()).toBe('mid')
    await takes('mid', 600)
    await takes('mid', 600)
    expect(await chosen()).toBe('dear')
  })

  test('timeouts count as such', async () => {
    const clock = new VirtualClock()
    const health = new ModelHealth(clock)
    const hangs = () => new Promise<never>(() => undefined)
    const says = [hangs, completes()]
    const run = await given({
      says,
      spec: { ...routed([rule('a', 'cost')]), retry: { maxRetries: 0 } },
      ports: { clock, health },
    })
    await run.drive()
    expect(health.figures('cheap')).toMatchObject({ calls: 1, timeouts: 1, errors: 0 })
    expect(health.figures('mid')).toMatchObject({ calls: 1, timeouts: 0 })
  })
})

describe('5.7.2 a decision is a function of recorded facts', () => {
  const policy = fc.constantFrom('cost', 'latency', 'quality')
  const when = fc.record(
    {
      risks: fc.subarray(['low', 'medium', 'high'], { minLength: 1 }),
      purposes: fc.subarray(['turn', 'summary'], { minLength: 1 }),
      budgetBelow: fc.double({ min: 0.5, max: 1, noNaN: true }),
    },
    { requiredKeys: [] },
  )
  const rules = fc.array(fc.tuple(policy, when, fc.subarray(ids, { minLength: 1 })), { minLength: 1, maxLength: 4 })
  const says = fc.array(fc.constantFrom('look', 'fail', 'slow'), { minLength: 1, maxLength: 6 })

  const end = fc.constantFrom('answer' as const, 'answer' as const, 'error' as const, 'timeout' as const)
  const before = fc.array(fc.tuple(fc.constantFrom(...ids), end, fc.integer({ min: 1, max: 500 })), { maxLength: 9 })

  test('whatever the rules, the figures and the failures', async () => {
    await fc.assert(
      fc.asyncProperty(rules, says, before, fc.boolean(), async (given_, plan, seen, watched) => {
        const clock = new VirtualClock()
        const health = new ModelHealth(clock, {
          ...{ windowMs: 60_000, minCalls: 1, errorRate: 0.5, timeoutRate: 0.5, slowMs: 400, probeAfterMs: 500 },
        })
        for (const [model, how, ms] of seen) {
          const ends = health.begin(model)
          await clock.sleep(ms)
          ends(how)
        }
        const said = plan.map((what): Said => {
          if (what === 'fail') return network
          return async () => {
            await clock.sleep(what === 'slow' ? 500 : 10)
            return calls(call('look'))
          }
        })
        const spec = {
          ...routed(given_.map(([p, w, models], n) => rule(`r${n}`, p, { when: w, models }))),
          ...{ retry: { maxRetries: 0, backoffMs: 10 }, budget: { tokens: 60_000, nanoDollars: null } },
        }
        const ports = { clock, ...(watched && { health }) }
        const run = await given({ says: [...said, completes()], spec, tools: [tool('look')], ports })
        await run.drive()
        expectFunctionOfFacts(await run.events())
      }),
      { numRuns: 40 },
    )
  })
})
