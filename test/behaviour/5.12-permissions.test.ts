import { describe, expect, test } from 'vitest'
import { checkPolicy } from '../../domain/agent/runtime/history/check-policy.ts'
import { Policy } from '../../domain/calls/policy-schema.ts'
import { call, calls, completes, USER } from '../support/harness.ts'
import { asked, asks, denied, puts, ROLE } from '../support/permission-story.ts'

// Given a policy that refuses a tool, when the agent asks a person for it, then the tool may be called as far as permitted.

describe('request_permission (CONTRACTS 3)', () => {
  test('the request waits for a person as an approval does, whatever mode and standing approvals say', async () => {
    const run = await asked([asks(), completes()])
    expect(run.end).toEqual({ end: 'waiting', for: 'approval', toolCallIds: [run.call(1)] })
    await run.say({ kind: 'standing_approval', tools: ['*'] })
    expect(await run.drive()).toMatchObject({ for: 'approval' })
    await expect(run.say({ kind: 'standing_approval', tools: ['request_permission'] })).rejects.toThrow(/each time/)
    const [requested] = await run.of('approval_requested')
    expect(requested?.body).toMatchObject({ toolName: 'request_permission', reason: expect.stringMatching(/refuses/) })
  })

  test('granted, the refused tool runs, is offered, and each call names its permission', async () => {
    const run = await asked([puts(), asks(), puts(2), completes()])
    expect(await run.decide(2, 'approved', 'for today')).toEqual({ end: 'done' })
    expect(await run.ends()).toEqual([
      'put: PERMISSION_DENIED',
      'request_permission: ok',
      'put: ok',
      'complete_task: ok',
    ])
    expect(run.put.ran).toEqual([{ n: 2 }])
    expect([run.offered(0), run.offered(2)].map((names) => names.includes('put'))).toEqual([false, true])
    const [granted] = await run.of('permission_granted')
    expect(granted).toMatchObject({
      toolCallId: run.call(2),
      body: { tool: 'put', scope: 'run', reason: 'to save the work' },
    })
    const [decided] = await run.of('approval_decided')
    expect(decided).toMatchObject({ actor: { kind: 'approver', id: USER.id }, body: { reason: 'for today' } })
    const starts = await run.of('tool_call_start')
    expect(starts.map(({ body }) => body.permission)).toEqual([undefined, undefined, run.call(2), undefined])
  })

  test('rejected or expired, nothing is lifted', async () => {
    const rejected = await asked([asks(), puts(), completes()])
    await rejected.decide(1, 'rejected', 'not on Fridays')
    expect(await rejected.ends()).toContain('put: PERMISSION_DENIED')
    expect(await rejected.message()).toContain('not on Fridays')
    const late = await asked([asks(), puts(), completes()])
    late.clock.time += 86_400_000
    await late.drive()
    expect(await late.ends()).toEqual([
      'request_permission: APPROVAL_EXPIRED',
      'put: PERMISSION_DENIED',
      'complete_task: ok',
    ])
    expect([...rejected.put.ran, ...late.put.ran]).toEqual([])
  })

  test('for one call: the next one uses it up, also beside another of the same turn', async () => {
    const two = calls(call('put', { n: 1 }, 'a'), call('put', { n: 2 }, 'b'))
    const run = await asked([asks({ scope: 'call' }), two, puts(3), completes()])
    await run.decide(1, 'approved')
    expect(run.put.ran).toEqual([{ n: 1 }])
    expect((await run.of('permission_ended')).map(({ body, toolCallId }) => [body, toolCallId])).toEqual([
      [{ permission: run.call(1), why: 'used' }, run.call(2)],
    ])
  })

  test('for a phase: it ends where the phase is left', async () => {
    const says = [
      asks({ scope: 'phase' }),
      puts(1),
      calls(call('advance_phase', { summary: 's' })),
      puts(2),
      completes(),
    ]
    const run = await asked(says, { role: ROLE, policy: { mode: 'batch' } })
    await run.decide(1, 'approved')
    expect(run.put.ran).toEqual([{ n: 1 }])
    expect((await run.of('permission_ended')).map(({ body }) => body.why)).toEqual(['phase'])
  })

  test('its time ends it, also while the model is answering', async () => {
    const run = await asked([asks({ until: '10m' }), puts(1), (_, __) => slow(), completes()])
    const slow = () => {
      run.clock.time += 600_000
      return puts(2)
    }
    await run.decide(1, 'approved')
    expect(run.put.ran).toEqual([{ n: 1 }])
    expect((await run.of('permission_ended')).map(({ body }) => body.why)).toEqual(['expired'])
  })

  test('calls of the permitted tool still ask for approval, and one at a time where turns are single steps', async () => {
    const twice = calls(call('put', { n: 1 }, 'a'), call('put', { n: 2 }, 'b'))
    const policy = { mode: 'interactive', deniedTools: ['put'], requiresApproval: ['put'] }
    const run = await asked([asks(), twice, puts(), completes()], { policy })
    expect(await run.decide(1, 'approved')).toMatchObject({ for: 'approval', toolCallIds: [run.call(3)] })
    expect(run.put.ran).toEqual([])
    expect((await run.ends()).slice(1)).toEqual(['put: SINGLE_STEP_VIOLATION', 'put: SINGLE_STEP_VIOLATION'])
  })

  test('recovery lifts no refusal, and completion stays as it is', async () => {
    const run = await asked([asks(), puts(), completes()], { limits: { maxTurns: 4, wallClockMs: null } })
    expect(await run.decide(1, 'approved')).toMatchObject({ end: 'error', code: 'RECOVERY_FAILED' })
    expect(run.put.ran).toEqual([])
  })

  test.each([
    [{ tool: 'look' }, /may call look/],
    [{ tool: 'nothing' }, /no tool "nothing"/],
    [{ tool: '*' }, /name one tool/],
    [{ scope: 'phase' }, /no phases/],
    [{ until: 'tomorrow' }, /until: expected/],
    [{ until: '2020-01-01T00:00:00Z' }, /until: expected/],
    [{ until: '101d' }, /until: expected/],
    [{ reason: ' ' }, /reason/],
  ])('%j is refused by name, and no person is asked', async (more, why) => {
    const run = await asked([asks(more), completes()])
    expect(await run.ends()).toEqual(['request_permission: INVALID_ARGUMENTS', 'complete_task: ok'])
    expect(await run.message()).toMatch(why)
    expect(await run.of('approval_requested')).toEqual([])
  })

  test('a fork inherits none', async () => {
    const run = await asked([asks(), calls(call('look')), puts(), completes()])
    await run.decide(1, 'approved')
    const fork = await run.runtime.fork(run.runId, { step: 2 }, {}, { by: USER })
    expect((await run.runtime.at(run.runId, { step: 2 })).state.permissions).toHaveLength(1)
    expect((await run.runtime.at(fork.runId, null)).state.permissions).toEqual([])
  })

  test('a check of the policy names the permission by which a call ran', async () => {
    const run = await asked([asks({ scope: 'call' }), puts(), completes()])
    await run.decide(1, 'approved')
    const { found } = await checkPolicy(run.ports, run.runId, {})
    expect(found).toMatchObject([
      { toolName: 'request_permission', would: 'ask' },
      { toolName: 'put', would: 'permit' },
    ])
    expect(found[1]?.reason).toContain(run.call(1))
    const free = await checkPolicy(run.ports, run.runId, { policy: Policy.parse({ mode: 'batch' }) })
    expect(free.found.map(({ toolName }) => toolName)).toEqual(['request_permission'])
  })

  describe('taken back by a person', () => {
    const back = (toolCallId: string) => ({ kind: 'revoke_permission' as const, toolCallId, reason: 'enough' })

    test('later calls are refused again, and the record says who took it back and why', async () => {
      const asking = calls(call('ask_user', { question: 'Go on?' }))
      const run = await asked([asks(), puts(1), asking, puts(2), completes()])
      await run.decide(1, 'approved')
      await run.say(back(run.call(1)))
      await run.say({ kind: 'input', text: 'Go on.' })
      expect(await run.drive()).toEqual({ end: 'done' })
      expect(run.put.ran).toEqual([{ n: 1 }])
      expect(await run.of('permission_revoked')).toMatchObject([
        {
          actor: { kind: 'approver', id: USER.id },
          body: { permission: run.call(1), reason: 'enough' },
        },
      ])
      await expect(run.say(back(run.call(1)))).rejects.toMatchObject({ code: 'RUN_FINISHED' })
    })

    test('one that is not in force is refused by name', async () => {
      const run = await asked([asks(), completes()])
      await expect(run.say(back(run.call(1)))).rejects.toMatchObject({ code: 'PERMISSION_NOT_IN_FORCE' })
      expect(await run.of('permission_revoked')).toEqual([])
    })

    test('a call that waits for its approval does not run by it', async () => {
      const policy = { ...denied, requiresApproval: ['put'] }
      const run = await asked([asks(), puts(1), completes()], { policy })
      expect(await run.decide(1, 'approved')).toMatchObject({ for: 'approval', toolCallIds: [run.call(2)] })
      await run.say(back(run.call(1)))
      const late = run.say({ kind: 'decide_approval', toolCallId: run.call(2), decision: 'approved' })
      await expect(late).rejects.toMatchObject({ code: 'APPROVAL_NOT_PENDING' })
      expect(await run.drive()).toEqual({ end: 'done' })
      expect(await run.ends()).toContain('put: PERMISSION_DENIED')
      expect(run.put.ran).toEqual([])
      expect(await run.runtime.permitted(run.runId, 2)).toMatchObject([{ toolCallId: run.call(2), ran: false }])
    })

    test('a call that its person has approved after it has waited is told as one that ran', async () => {
      const run = await asked([asks(), puts(1), completes()], { policy: { ...denied, requiresApproval: ['put'] } })
      await run.decide(1, 'approved')
      expect(await run.decide(2, 'approved')).toEqual({ end: 'done' })
      expect(run.put.ran).toEqual([{ n: 1 }])
      expect(await run.runtime.permitted(run.runId, 2)).toMatchObject([{ toolCallId: run.call(2), ran: true }])
    })
  })

  test('its time ends it for a call too that waits for its approval', async () => {
    const policy = { ...denied, requiresApproval: ['put'] }
    const run = await asked([asks({ until: '10m' }), puts(1), completes()], { policy })
    await run.decide(1, 'approved')
    run.clock.time += 600_000
    expect(await run.decide(2, 'approved')).toEqual({ end: 'done' })
    expect(await run.ends()).toContain('put: PERMISSION_DENIED')
    expect(run.put.ran).toEqual([])
  })

  test('a call names its permission, who gave it and why', async () => {
    const run = await asked([asks(), puts(1), completes()])
    await run.decide(1, 'approved')
    expect(await run.runtime.permitted(run.runId, 2)).toMatchObject([
      {
        ...{ toolCallId: run.call(2), toolName: 'put', permission: run.call(1), ran: true },
        granted: { tool: 'put', scope: 'run', reason: 'to save the work', by: USER.id },
      },
    ])
    expect(await run.runtime.permitted(run.runId, 1)).toEqual([])
  })

  test('a policy may deny the tool itself', async () => {
    const run = await asked([asks(), completes()], {
      policy: { ...denied, deniedTools: ['put', 'request_permission'] },
    })
    expect(await run.ends()).toEqual(['request_permission: PERMISSION_DENIED', 'complete_task: ok'])
  })
})
