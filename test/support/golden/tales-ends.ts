import { ModelError } from '../../../domain/calls/errors.ts'
import { CUTS } from '../../../domain/calls/model-call.ts'
import { call, calls, completes, says, testModel, testSpec } from '../harness.ts'
import { ROLE } from '../plans.ts'
import { tool } from '../story.ts'
import { tale } from './tale.ts'

// How runs end, and the variants of their start.

const price = { asOf: '2026-01-01', input: 1_000_000, output: 2_000_000, cacheRead: 0, cacheWrite: 0 }
const known = [{ ...testModel, price }]
const role = {
  ...{ name: 'Looker', profile: 'a reader', goal: 'look', maxReactLoop: 5 },
  phases: [{ name: 'look', allowedTools: ['look'] }],
  qualityGates: [{ after: 'look', check: 'diagram_exists' }],
  idempotentCommands: [['npm', 'run', 'lint']],
}

/** Runs that end in ERROR, each with another code, and warnings for each reason, recorded and not. */
export async function ends() {
  const look = tool('look', { timeLimitMs: 60_000 }, async ({ slowly }) => slowly && run.clock.sleep(6_000))
  const thought = { content: [{ type: 'text', text: 'found half' }, call('look')], stopReason: 'tool_use' } as const
  const slow = calls(call('look', { slowly: true }))
  const usage = (input: number) => ({ input, output: 100, cacheRead: 10, cacheWrite: 5 })
  const refusal = { content: [], stopReason: 'refusal' } as const
  const fails = new ModelError('OVERLOADED', 'too many ask', { transient: true })
  const bad = new ModelError('AUTHENTICATION', 'the key is wrong')
  const limits = (maxTurns: number, wallClockMs: number | null = null) => ({ maxTurns, wallClockMs })
  const models = { requested: 'test-model', safeDefault: 'test-model', known }
  const starts: [readonly (object | Error)[], Record<string, unknown>][] = [
    [[thought, slow], { limits: limits(4), role }],
    [[slow, slow, completes('in time')], { limits: limits(25, 10_000) }],
    [
      [{ ...slow, usage: usage(14_000) }, completes('cheap')],
      { budget: { tokens: 20_000, nanoDollars: 50_000_000 }, models },
    ],
    [[says('I am done.')], {}],
    [[refusal], {}],
    [
      [fails, fails, fails, fails, fails, fails, fails, fails, fails, fails],
      { retry: { maxRetries: 1, backoffMs: 10 } },
    ],
    [[bad], {}],
    [[calls(call('nothing'))], {}],
  ]
  const [[first, more], ...others] = starts as [(typeof starts)[0], ...typeof starts]
  let answers: readonly (object | Error)[] = first
  let told = 0
  const answer = () => (answers[told++] ?? answers.at(-1)) as never
  const run = await tale({ says: [answer], tools: [look], spec: more })
  await run.drive()
  for (const [said, spec] of others) {
    answers = said
    told = 0
    const runId = await run.start(testSpec(spec, [look]), null)
    await run.tell({ kind: 'input', text: 'Go.' }, {}, runId)
    await run.driveOther(runId)
  }
  return run.log
}

/** A role with all members of a user's role. */
const OF_A_USER = {
  ...ROLE,
  phases: [
    { name: 'first', allowedTools: ['read_file'] },
    { name: 'second', allowedTools: [] },
  ],
  prompt: 'Be brief.',
  qualityGates: [...ROLE.qualityGates, { after: 'second', check: 'builds', argv: ['make', 'all'], timeoutMs: 60_000 }],
}

/** Models that fail and recover or do not, and answers cut at each limit. */
export async function outages() {
  const fails = new ModelError('OVERLOADED', 'too many ask', { transient: true })
  const cuts = CUTS.map((cut) => ({ ...says('half an answer'), stopReason: 'max_tokens' as const, cut }))
  const out = [fails, fails, fails, fails, fails, ...cuts, completes('it came back')]
  let told = 0
  const answer = () => (out[told++] ?? fails) as never
  const run = await tale({ says: [answer], spec: { retry: { maxRetries: 1, modelOutageMs: 3_600_000 } } })
  await run.drive()
  const never = await run.start(testSpec({ retry: { maxRetries: 0, modelOutageMs: 10_000 } }), null)
  await run.tell({ kind: 'input', text: 'Go.' }, {}, never)
  await run.driveOther(never)
  const workspace = { path: '/w', tree: 't0' }
  await run.start(testSpec({ role: OF_A_USER, readsOn: true, readsHistory: true, workspace }), null)
  return run.log
}
