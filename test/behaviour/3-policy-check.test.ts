import { describe, expect, test } from 'vitest'
import { namesNoTool, type OtherRules } from '../../domain/agent/rules/policy-check.ts'
import { checkPolicy } from '../../domain/agent/runtime/history/check-policy.ts'
import { Policy } from '../../domain/calls/policy-schema.ts'
import type { RoleDefinition } from '../../domain/tree/spec.ts'
import { call, calls, completes } from '../support/harness.ts'
import { given, tool } from '../support/story.ts'

const batch = Policy.parse({ mode: 'batch' })
const role = (allowedTools: string[]): RoleDefinition => ({
  ...{ name: 'mine', profile: 'p', goal: 'g', constraints: [], maxReactLoop: 9, qualityGates: [] },
  phases: [{ name: 'only', allowedTools }],
})

/** A run that reads and puts, in one turn and alone, and what other rules say of it. */
async function run(policy: object = { mode: 'batch' }) {
  const tools = [tool('look'), tool('put', { effect: 'idempotent' })]
  const says = [calls(call('look', { n: 1 }), call('put', { n: 2 })), calls(call('put', { n: 3 })), completes()]
  const told = await given({ says, tools, spec: { policy: Policy.parse(policy) } })
  await told.drive()
  const check = async (other: OtherRules) => {
    const before = (await told.events()).length
    const { calls: count, found } = await checkPolicy(told.ports, told.runId, other)
    expect((await told.events()).length).toBe(before)
    expect(count).toBe(4)
    return found.map(({ toolCallId, would, code, rule, recorded }) =>
      [toolCallId.split('.').slice(1).join('.'), would, code ?? rule ?? '', recorded.end].join(' ').replace('  ', ' '),
    )
  }
  return { ...told, tools, check }
}

describe('another policy over recorded calls', () => {
  test('the policy of the run itself finds nothing that it let run', async () => {
    const { check, tools } = await run()
    expect(await check({})).toEqual([])
    expect(await check({ policy: batch })).toEqual([])
    expect(tools.map(({ ran }) => ran.length)).toEqual([1, 2])
  })

  test('denials, missing permissions, approvals and single steps are told, each call by itself', async () => {
    const { check } = await run()
    expect(await check({ policy: { ...batch, deniedTools: ['put'] } })).toEqual([
      't1.c1 refuse PERMISSION_DENIED ok',
      't2.c0 refuse PERMISSION_DENIED ok',
    ])
    expect(await check({ policy: { ...batch, allowedTools: ['put'] } })).toEqual(['t1.c0 refuse PERMISSION_DENIED ok'])
    expect(await check({ policy: { ...batch, requiresApproval: ['look'] } })).toEqual(['t1.c0 ask ok'])
    expect(await check({ policy: { ...batch, mode: 'interactive' } })).toEqual([
      't1.c0 refuse SINGLE_STEP_VIOLATION ok',
      't1.c1 refuse SINGLE_STEP_VIOLATION ok',
    ])
  })

  test('a role narrows by its phases; completion is never refused', async () => {
    const { check } = await run()
    expect(await check({ role: role(['look']) })).toEqual([
      't1.c1 refuse PERMISSION_DENIED ok',
      't2.c0 refuse PERMISSION_DENIED ok',
    ])
    expect(await check({ role: role(['look', 'put']) })).toEqual([])
    expect(await check({ role: role([]) })).toHaveLength(3)
    expect(await check({ policy: { ...batch, deniedTools: ['complete_task'] } })).toEqual([])
  })

  test('what was refused then is found again under the same policy, and nothing is performed', async () => {
    const { check, tools } = await run({ mode: 'batch', deniedTools: ['put'] })
    expect(await check({})).toEqual([
      't1.c1 refuse PERMISSION_DENIED PERMISSION_DENIED',
      't2.c0 refuse PERMISSION_DENIED PERMISSION_DENIED',
    ])
    expect(await check({ policy: batch })).toEqual([])
    expect(tools[1]!.ran).toEqual([])
  })

  test('what a person was asked is said', async () => {
    const { runId, ports } = await run({ mode: 'batch', requiresApproval: ['look'] })
    const { found } = await checkPolicy(ports, runId, {})
    expect(found).toMatchObject([{ toolName: 'look', would: 'ask', recorded: { asked: true, end: null } }])
  })

  test('a name that fits no tool is told once, wherever the policy has it: it would refuse nothing', async () => {
    const policy = (more: object) => Policy.parse({ mode: 'batch', ...more })
    expect(namesNoTool(policy({ deniedTools: ['putt', 'put'], requiresApproval: ['putt'] }), ['put'])).toEqual(['putt'])
    expect(namesNoTool(policy({ allowedTools: ['my:*', 'other:*'] }), ['my:tool'])).toEqual(['other:*'])
    expect(namesNoTool(policy({ allowedTools: ['*', 'file_write', 'read_url', 'recall'] }), [])).toEqual([])
    const { ports, runId } = await run()
    expect((await checkPolicy(ports, runId, {})).tools).toEqual(expect.arrayContaining(['look', 'put']))
  })
})
