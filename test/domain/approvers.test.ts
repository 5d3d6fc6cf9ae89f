import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { childSpec } from '../../domain/agent/rules/child-spec.ts'
import { doubtHash } from '../../domain/agent/rules/doubt-question.ts'
import { callsOf } from '../../domain/agent/state/state.ts'
import { approversIn, withApprovers } from '../../domain/calls/approvers.ts'
import { Policy } from '../../domain/calls/policy-schema.ts'
import { rightsOf } from '../../domain/tree/rights.ts'
import { Decider } from '../support/decider.ts'
import { property } from '../support/property.ts'
import { tool } from '../support/story.ts'
import { worldSpec } from '../support/tree/plans.ts'

// Calls that several people must approve (CONTRACTS 3). The decisions are told a second time over generated people.

const PEOPLE = ['ann', 'ben', 'cleo', 'dan', 'eve']
const TOOLS = [tool('send', { effect: 'irreversible' }), tool('look', { effect: 'pure' })]

/** An agent whose call of a tool waits. */
function waiting(policy: object, spec: object = {}, called = 'send') {
  const agent = new Decider({ policy: { mode: 'batch', ...policy }, ...spec }, TOOLS)
  const driver = agent.claim('d')
  agent.take({ kind: 'proceed' }, driver)
  agent.answers(driver, [called, {}])
  const toolCallId = `run1.t1.c0`
  const decide = (
    who: string,
    decision: 'approved' | 'rejected',
    content: 'absent' | 'unreadable' = 'absent',
    more: { otherIds?: string[] } = {},
  ) =>
    agent.take({ kind: 'decide_approval', toolCallId, decision, files: [{ path: 'a', content }], ...more }, undefined, {
      ...{ kind: 'user', id: who, claimed: true },
    })
  const stage = () => callsOf(agent.state)[0]!.stage
  /** Another process drives on. */
  const restart = (id: string) => agent.take({ kind: 'proceed' }, agent.claim(id))
  return { agent, driver, decide, stage, restart }
}

const rules = (count: number) => ({ approvers: [{ tools: ['send'], count }] })
const act = fc.record({
  who: fc.constantFrom(...PEOPLE),
  decision: fc.constantFrom('approved' as const, 'approved' as const, 'approved' as const, 'rejected' as const),
  file: fc.constantFrom('absent' as const, 'absent' as const, 'unreadable' as const),
  restarts: fc.boolean(),
})

describe('a call that several people must approve', () => {
  test('runs after that many different people approved the same question, and a rejection ends it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 4 }), fc.array(act, { maxLength: 12 }), (count, acts) => {
        const { decide, stage, restart } = waiting(rules(count))
        let agreed = new Set<string>()
        let about: string | null = null
        for (const [n, { who, decision, file, restarts }] of acts.entries()) {
          if (restarts) restart(`d${n}`)
          if (decision === 'approved' && about === file && agreed.has(who)) {
            expect(() => decide(who, decision, file)).toThrow(`${who} has approved run1.t1.c0 before`)
            continue
          }
          const events = decide(who, decision, file).map(({ type }) => type)
          if (decision === 'rejected') {
            expect([events, stage().at]).toEqual([['approval_decided'], 'rejected'])
            return
          }
          agreed = about === file ? agreed.add(who) : new Set([who])
          about = file
          if (agreed.size === count) {
            expect([events, stage().at]).toEqual([['approval_decided'], 'approved'])
            restart('last')
            expect(stage().at).toBe('running')
            return
          }
          expect([events, stage()]).toMatchObject([['approval_supported'], { at: 'approval', needed: count }])
        }
      }),
      property(300),
    )
  })

  test('runs whatever the order of these people is', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(PEOPLE, { minLength: 2 }), (people) => {
        const { decide, stage } = waiting(rules(people.length))
        const types = people.flatMap((who) => decide(who, 'approved').map(({ type }) => type))
        expect(types).toEqual([...people.slice(1).map(() => 'approval_supported'), 'approval_decided'])
        expect(stage().at).toBe('approved')
      }),
      property(50),
    )
  })

  test('counts two ids of one person once, and both of them for different questions', () => {
    const { decide, stage } = waiting(rules(2))
    decide('ann', 'approved')
    const again = () => decide('ann2', 'approved', 'absent', { otherIds: ['ann'] })
    expect(again).toThrow('ann2, who is also ann, has approved run1.t1.c0 before; another person must approve it')
    expect(decide('ann2', 'approved', 'unreadable', { otherIds: ['ann'] })).toMatchObject([
      { type: 'approval_supported' },
    ])
    expect(stage()).toMatchObject({ at: 'approval', supporters: [{ by: 'ann2' }] })
  })

  test('waits in every mode, whatever was approved beforehand by a pattern', () => {
    for (const mode of ['batch', 'interactive']) {
      const { agent, stage, driver } = waiting({ mode, ...rules(2) })
      expect(stage()).toMatchObject({ at: 'approval', needed: 2 })
      agent.take({ kind: 'standing_approval', tools: ['*'] })
      agent.take({ kind: 'proceed' }, driver)
      expect(stage().at).toBe('approval')
    }
  })

  test('is covered by no standing approval of its tool and no permission, which are refused', () => {
    const { agent, driver } = waiting({ ...rules(2), deniedTools: ['send'] }, { asksPermission: true }, 'look')
    expect(() => agent.take({ kind: 'standing_approval', tools: ['send'] })).toThrow(
      'several people must approve each call of send',
    )
    agent.succeeds(driver, 'look')
    agent.take({ kind: 'proceed' }, driver)
    const asked = { tool: 'send', scope: 'run', until: '2h', reason: 'to send' }
    const events = agent.answers(driver, ['request_permission', asked])
    expect(JSON.stringify(events)).toContain('so no permission of one person covers it')
  })

  test('runs again after an unknown outcome only when that many people have said so', () => {
    const { agent, decide, stage, restart } = waiting(rules(2))
    decide('ann', 'approved')
    decide('ben', 'approved')
    restart('d1')
    restart('d2')
    expect(stage().at).toBe('doubt')
    const again = (id: string, more: object = {}) =>
      agent
        .take({ kind: 'resolve_doubt', toolCallId: 'run1.t1.c0', decision: 'run', ...more }, undefined, {
          ...{ kind: 'user', id, claimed: true },
        })
        .map(({ type }) => type)
    const asked = doubtHash(agent.state, 'run1.t1.c0')!
    expect(again('ann', { questionHash: asked })).toEqual(['approval_supported'])
    expect(() => again('ann')).toThrow('ann has approved run1.t1.c0 before')
    expect(() => again('ann2', { otherIds: ['ann'] })).toThrow('ann2, who is also ann, has approved')
    restart('d3')
    expect([stage().at, doubtHash(agent.state, 'run1.t1.c0')]).toEqual(['doubt', asked])
    // An approval that has lapsed does not count.
    expect(again('ben', { lapsed: ['ann'] })).toEqual(['approval_supported'])
    expect(again('cleo')).toEqual(['tool_call_resolved'])
    restart('d4')
    expect(stage().at).toBe('running')
  })

  test('waits for another person when an earlier approver may not decide any more', () => {
    const { agent, decide, stage } = waiting(rules(2))
    decide('ann', 'approved')
    const command = { kind: 'decide_approval', toolCallId: 'run1.t1.c0', decision: 'approved' } as const
    const files = [{ path: 'a', content: 'absent' as const }]
    const events = agent.take({ ...command, files, lapsed: ['ann'] }, undefined, {
      ...{ kind: 'user', id: 'ben', claimed: true },
    })
    expect(events).toMatchObject([{ type: 'approval_supported', body: { lapsed: ['ann'] } }])
    expect(stage()).toMatchObject({ supporters: [{ by: 'ben' }] })
    decide('ann', 'approved')
    expect(stage().at).toBe('approved')
  })

  test('is one with a listed effect, with the greatest count of the rules that match', () => {
    const approvers = [
      { tools: ['*'], effects: ['irreversible' as const], count: 2 },
      { tools: ['send'], count: 4 },
      { tools: ['mail:*'], count: 3 },
    ]
    const of = (toolName: string, effect: 'pure' | 'irreversible') => approversIn({ approvers }, { toolName, effect })
    expect([of('send', 'pure'), of('look', 'pure'), of('look', 'irreversible'), of('mail:x', 'pure')]).toEqual([
      ...[4, null, 2, 3],
    ])
  })
})

describe('rules about approvers', () => {
  test('hold for children, also those that are other agents', () => {
    const base = worldSpec({ policy: { mode: 'batch', approvers: [{ tools: ['run_command'], count: 2 }] } })
    const child = childSpec(base, {
      ...{ role: Object.keys(base.delegation!.roles)[0]!, task: 't', constraints: [], childId: 'c', tree: null },
      grant: { tokens: null, nanoDollars: null, agents: 0 },
    })
    expect(child?.policy.approvers).toEqual(base.policy.approvers)
    expect(rightsOf({ policy: { ...base.policy, allowedTools: ['*'] }, role: null })).toMatchObject({
      ...{ read: true, commands: false },
    })
  })

  test('of access are added to a policy once', () => {
    const policy = Policy.parse({})
    const rule = { tools: ['send'], count: 2 }
    expect(withApprovers(policy, [])).toBe(policy)
    const once = withApprovers(policy, [rule])
    expect(once.approvers).toEqual([rule])
    expect(withApprovers(once, [rule])).toBe(once)
  })
})
