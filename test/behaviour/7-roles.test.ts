import { describe, expect, test } from 'vitest'
import { ANALYST_SOP, ARCHITECT_SOP, RESEARCHER_SOP, REVIEWER_SOP } from '../../domain/agent/definition/roles.ts'
import type { RoleDefinition } from '../../domain/tree/spec.ts'
import { call, calls, completes, says } from '../support/harness.ts'
import { given, tool } from '../support/story.ts'

const ROLE: RoleDefinition = {
  name: 'R',
  profile: 'p',
  goal: 'g',
  phases: [
    { name: 'one', allowedTools: ['look'] },
    { name: 'two', allowedTools: ['put'] },
    { name: 'three', allowedTools: [] },
  ],
  qualityGates: [{ after: 'two', check: 'diagram_exists' }],
  maxReactLoop: 10,
}
const advance = (args: object = {}) => calls(call('advance_phase', { summary: 's', ...args }))
const diagram = { artifacts: [{ type: 'diagram', title: 'D', content: 'graph' }] }
const tools = () => [tool('look'), tool('put', { effect: 'idempotent' })]
const story = async (...answers: Parameters<typeof given>[0]['says']) => {
  const run = await given({ says: [...answers, completes()], tools: tools(), spec: { role: ROLE } })
  return { ...run, end: await run.drive() }
}
const phases = async (run: Awaited<ReturnType<typeof given>>) =>
  (await run.of('phase_advanced')).map(({ body }) => `${body.from} → ${body.to}`)

describe('section 7: phases', () => {
  test('a run begins in the first; each offers its own tools, and refuses the others', async () => {
    const run = await story(calls(call('put')), advance(), calls(call('put')), advance(diagram))
    expect(run.end).toEqual({ end: 'done' })
    const end = (await run.of('tool_call_end'))[0]
    expect(end?.body.error).toMatchObject({
      code: 'PERMISSION_DENIED',
      rule: 'phase',
      message: expect.stringContaining('advance_phase'),
    })
    expect(run.offered(0)).toContain('look')
    expect(run.offered(0)).not.toContain('put')
    expect(run.offered(2)).toContain('put')
    expect(run.offered(4)).toEqual(['complete_task', 'advance_phase', 'set_context', 'ask_user'])
    expect(run.requests[0]?.toolChoice).toBe('any')
    expect(run.requests[4]?.toolChoice).toBe('auto')
  })

  test('advance_phase is alone in its turn', async () => {
    const run = await given({
      says: [
        calls(call('advance_phase', { summary: 's' }), call('look')),
        advance({ to: 'three', ...diagram }),
        completes(),
      ],
      tools: tools(),
      spec: { role: ROLE, policy: { mode: 'batch' } },
    })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect((await run.ends()).slice(0, 2)).toEqual([
      'advance_phase: SINGLE_STEP_VIOLATION',
      'look: SINGLE_STEP_VIOLATION',
    ])
  })

  test.each([
    ['past the last', [advance({ to: 'three', ...diagram }), advance()]],
    ['to the current one', [advance({ to: 'one' })]],
    ['to none of the role', [advance({ to: 'four' })]],
    ['with a blank title', [advance({ artifacts: [{ type: 'plan', title: ' ', content: 'c' }] })]],
  ])('%s is INVALID_ARGUMENTS', async (_, answers) => {
    const run = await story(...answers, advance({ to: 'two' }), advance(diagram))
    expect(await run.ends()).toContain('advance_phase: INVALID_ARGUMENTS')
  })

  test('no role: no advance_phase', async () => {
    const run = await given({ says: [advance(), completes()] })
    await run.drive()
    expect(await run.ends()).toEqual(['unknown: RESOURCE_NOT_FOUND', 'complete_task: ok'])
  })
})

describe('section 7: gates', () => {
  test('forward, the gates of what is left must hold; each check is an event with its evidence', async () => {
    const run = await story(advance(), advance(), advance(diagram))
    expect(run.end).toEqual({ end: 'done' })
    expect(await phases(run)).toEqual(['one → two', 'two → three'])
    expect(await run.ends()).toContain('advance_phase: GATE_FAILED')
    const checks = (await run.of('gate_checked')).map(({ body }) => body)
    expect(checks).toEqual([
      { gate: 'diagram_exists', after: 'two', passed: false, evidence: expect.stringContaining('no artifact') },
      { gate: 'diagram_exists', after: 'two', passed: true, evidence: expect.stringContaining('registered') },
    ])
    expect(run.seen(2).at(-1)).toMatchObject({
      isError: true,
      content: expect.stringContaining('no artifact of type diagram'),
    })
  })

  test('a jump must pass the gates of what is jumped over', async () => {
    const run = await story(advance({ to: 'three' }), advance({ to: 'three', ...diagram }))
    expect(await run.ends()).toEqual(['advance_phase: GATE_FAILED', 'advance_phase: ok', 'complete_task: ok'])
    expect(await phases(run)).toEqual(['one → three'])
  })

  test('an earlier phase needs none, and the gates passed after it lapse', async () => {
    const run = await story(advance({ to: 'three', ...diagram }), advance({ to: 'two' }), advance({ to: 'one' }))
    expect(run.end).toEqual({ end: 'done' })
    expect(await phases(run)).toEqual(['one → three', 'three → two', 'two → one'])
    const at = async (turn: number) => (await run.runtime.at(run.runId, { turn })).state.gatesPassed
    expect(await at(1)).toEqual(['two/diagram_exists'])
    expect(await at(2)).toEqual([])
  })

  test('one check may stand after two phases: passed at one is not passed at the other', async () => {
    const role = {
      ...ROLE,
      qualityGates: [
        { after: 'one', check: 'tests_pass' },
        { after: 'two', check: 'tests_pass' },
      ],
    }
    const run_command = tool('run_command', { effect: 'irreversible' })
    const run = await given({
      says: [advance(), completes(), says('')],
      tools: [...tools(), run_command],
      spec: { role, limits: { maxTurns: 5, wallClockMs: null } },
    })
    await run.drive()
    expect((await run.of('gate_checked')).map(({ body }) => body.after)).toEqual(['one', 'one', 'two'])
  })

  test('complete_task checks every gate not passed', async () => {
    const run = await given({
      says: [completes(), completes(), advance({ to: 'three', ...diagram }), completes()],
      tools: tools(),
      spec: { role: ROLE },
    })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(await run.ends()).toEqual([
      'complete_task: GATE_FAILED',
      'complete_task: GATE_FAILED',
      'advance_phase: ok',
      'complete_task: ok',
    ])
    expect(await run.of('gate_checked')).toHaveLength(3)
  })

  describe('tests_pass', () => {
    const role = {
      ...ROLE,
      phases: [{ name: 'one', allowedTools: ['run_command', 'own'] }],
      qualityGates: [{ after: 'one', check: 'tests_pass' }],
    }
    const ended = (name: string, exitCode: number | null) => {
      const one = tool(name, { effect: 'irreversible' })
      one.run = async () => ({ content: 'x', detail: { testCommand: true, tested: { exitCode }, exitCode } })
      return one
    }
    const tested = async (name: string, exitCode: number | null, command = 'npm test') => {
      const run = await given({
        says: [calls(call(name, { command })), completes(), says('')],
        tools: [ended('run_command', exitCode), ended('own', exitCode)],
        spec: { role, testCommand: ['npm', 'test'], policy: { allowedTools: ['*'], mode: 'batch' } },
      })
      await run.drive()
      const [end] = await run.of('tool_call_end')
      const [check] = await run.of('gate_checked')
      return { tested: end!.body.tested, passed: check?.body.passed, evidence: check?.body.evidence }
    }

    test.each([
      ['the test command, ended with 0', ['run_command', 0], { tested: { exitCode: 0 }, passed: true }],
      ['ended with 1', ['run_command', 1], { tested: { exitCode: 1 }, passed: false }],
      ['ended by a signal', ['run_command', null], { tested: { exitCode: null }, passed: false }],
      ['another command', ['run_command', 0, 'npm run test'], { tested: undefined, passed: false }],
      ['a tool that says so of itself', ['own', 0], { tested: undefined, passed: false }],
    ] as const)('%s', async (_, [name, exitCode, command], told) => {
      expect(await tested(name, exitCode, command)).toMatchObject(told)
    })
  })

  test('artifacts are registered first, also where the gate then fails', async () => {
    const plan = { artifacts: [{ type: 'plan', title: 'P', content: 'c' }] }
    const run = await story(advance({ to: 'three', ...plan }), advance({ to: 'three', ...diagram }))
    const kinds = (await run.of('artifact_registered')).map(({ body }) => body.artifact.type)
    expect(kinds).toEqual(['plan', 'diagram'])
    const types = await run.types()
    expect(types.indexOf('artifact_registered')).toBeLessThan(types.indexOf('gate_checked'))
  })

  test('what a control tool is given is stored once: in the answer that asked for it', async () => {
    const ask = calls(call('ask_user', { question: 'Whence this?' }))
    const set = calls(call('set_context', { key: 'k', value: ['a kept value'] }))
    const plan = { artifacts: [{ type: 'plan', title: 'P', content: 'the content of plan 9' }] }
    const run = await story(set, advance({ to: 'two', ...plan }), ask)
    const bodies = (await run.events()).map(({ body }) => JSON.stringify(body)).join('\n')
    for (const given of ['Whence this?', 'a kept value', 'the content of plan 9'])
      expect(bodies.split(given), given).toHaveLength(2)
  })

  test.each([
    ['an unknown gate', { qualityGates: [{ after: 'one', check: 'looks_nice' }] }],
    ['a gate after no phase', { qualityGates: [{ after: 'four', check: 'tests_pass' }] }],
    ['an unknown tool', { phases: [{ name: 'one', allowedTools: ['telepathy'] }] }],
  ])('%s is refused at start', async (_, more) => {
    await expect(
      given({ says: [completes()], tools: tools(), spec: { role: { ...ROLE, ...more } } }),
    ).rejects.toMatchObject({ code: 'SPEC_REFUSED' })
  })
})

describe('a built-in role in a deployment without web tools', () => {
  const files = () => [tool('read_file'), tool('search_code'), tool('write_file', { effect: 'idempotent' })]
  const run = (role: RoleDefinition, ...answers: Parameters<typeof given>[0]['says']) =>
    given({ says: [...answers, completes()], tools: files(), spec: { role, policy: { mode: 'batch' } } })

  test('the Researcher is offered the tools that there are, and hears of no others', async () => {
    const one = await run(RESEARCHER_SOP, calls(call('read_url', { url: 'https://example.org' })), advance())
    expect(await one.drive()).toEqual({ end: 'done' })
    expect(one.offered(0)).toEqual(['complete_task', 'advance_phase', 'set_context', 'ask_user', 'search_code'])
    expect(await one.ends()).toContain('unknown: RESOURCE_NOT_FOUND')
    const [prompt] = await one.of('prompt_set')
    expect(JSON.stringify(prompt?.body)).not.toMatch(/read_url|search_web/)
    expect(JSON.stringify(prompt?.body)).toContain('explore: search_code')
  })

  test.each([
    ['Researcher', RESEARCHER_SOP, 'synthesize'],
    ['Reviewer', REVIEWER_SOP, 'report'],
    ['Analyst', ANALYST_SOP, 'report'],
  ])('the %s may write one turn of text alone in its last phase, and not two', async (_, role, to) => {
    const once = await run(role, advance({ to }), says('A first draft.'))
    expect(await once.drive()).toEqual({ end: 'done' })
    expect(once.offered(1)).toEqual(['complete_task', 'advance_phase', 'set_context', 'ask_user'])
    const twice = await run(role, advance({ to }), says('A first draft.'), says('A second one.'))
    expect(await twice.drive()).toMatchObject({ end: 'error' })
    expect((await twice.of('error')).at(-1)?.body).toMatchObject({ code: 'NO_COMPLETION' })
    const early = await run(role, says('A draft in a phase with tools.'))
    expect(await early.drive()).toMatchObject({ end: 'error' })
  })

  test('the Architect leaves its design with a diagram only', async () => {
    const one = await run(ARCHITECT_SOP, advance(), advance(), advance(diagram), completes())
    expect(await one.drive()).toEqual({ end: 'done' })
    expect(await phases(one)).toEqual(['understand → design', 'design → document'])
    expect(await one.ends()).toContain('advance_phase: GATE_FAILED')
  })
})
