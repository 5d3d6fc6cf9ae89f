import { describe, expect, test } from 'vitest'
import { completes, USER } from '../support/harness.ts'
import { asked, asks, denied, puts } from '../support/permission-story.ts'

// Given a permission that a person has granted or is asked for, when people and processes act at once, then one of them wins.

describe('permissions between people and processes', () => {
  const of = (toolCallId: string) => ({
    decide: (decision: 'approved' | 'rejected') => ({ kind: 'decide_approval' as const, toolCallId, decision }),
    revoke: { kind: 'revoke_permission' as const, toolCallId, reason: 'enough' },
  })
  const refusals = (settled: readonly PromiseSettledResult<unknown>[]) =>
    settled.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []))

  test('of ten decisions of two processes one is recorded, and the others are refused by name', async () => {
    const run = await asked([asks(), puts(2), completes()])
    const { decide } = of(run.call(1))
    const processes = [run.runtime, run.elsewhere()]
    const settled = await Promise.allSettled(
      Array.from({ length: 10 }, (_, i) =>
        processes[i % 2]!.execute(run.runId, decide(i % 3 === 0 ? 'rejected' : 'approved'), { by: USER }),
      ),
    )
    expect(refusals(settled)).toEqual(Array(9).fill('APPROVAL_NOT_PENDING'))
    const [decided, ...more] = await run.of('approval_decided')
    expect(more).toEqual([])
    await run.drive()
    expect(run.put.ran).toEqual(decided!.body.decision === 'approved' ? [{ n: 2 }] : [])
  })

  test('of two that take it back at once one does, and no call begins by it any more', async () => {
    const policy = { ...denied, requiresApproval: ['put'] }
    const run = await asked([asks(), puts(1), completes()], { policy })
    await run.decide(1, 'approved')
    const settled = await Promise.allSettled(
      [run.runtime, run.elsewhere()].map((one) => one.execute(run.runId, of(run.call(1)).revoke, { by: USER })),
    )
    expect(refusals(settled)).toEqual(['PERMISSION_NOT_IN_FORCE'])
    expect(await run.drive()).toEqual({ end: 'done' })
    expect([run.put.ran, (await run.of('permission_revoked')).length]).toEqual([[], 1])
  })

  test('a permission whose time ends after the approval of a call lets it not begin', async () => {
    const policy = { ...denied, requiresApproval: ['put'] }
    const run = await asked([asks(), puts(1), completes()], { policy })
    await run.decide(1, 'approved')
    await run.say(of(run.call(2)).decide('approved'))
    run.clock.time += 2 * 3_600_000
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(run.put.ran).toEqual([])
    expect(await run.ends()).toContain('put: PERMISSION_DENIED')
  })

  test.each([true, false])('an approval of a call races with the end of its permission: %j', async (revokesFirst) => {
    const policy = { ...denied, requiresApproval: ['put'] }
    const run = await asked([asks(), puts(1), completes()], { policy })
    await run.decide(1, 'approved')
    const other = run.elsewhere()
    const approve = () => run.runtime.execute(run.runId, of(run.call(2)).decide('approved'), { by: USER })
    const revoke = () => other.execute(run.runId, of(run.call(1)).revoke, { by: USER })
    await Promise.allSettled(revokesFirst ? [revoke(), approve()] : [approve(), revoke()])
    expect(await run.drive()).toEqual({ end: 'done' })
    // No driver was at work meanwhile: whichever came first, the permission had ended before an intent.
    expect([run.put.ran, await run.of('permission_revoked')]).toEqual([[], [expect.anything()]])
    expect(await run.ends()).toContain('put: PERMISSION_DENIED')
  })
})
