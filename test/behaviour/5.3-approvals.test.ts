import { describe, expect, test } from 'vitest'
import { ToolChanged } from '../../domain/calls/errors.ts'
import type { ToolMeaning, ToolSpec } from '../../domain/calls/tools/tool-spec.ts'
import { call, calls, completes, harness, testSpec, toolSpec, USER } from '../support/harness.ts'
import { given, tool } from '../support/story.ts'

const write = () => tool('write_file', { effect: 'reconcilable' })
const writes = calls(call('write_file', { path: 'a' }))
const waiting = async (spec = {}, says = [writes, completes()]) => {
  const tools = [write(), tool('look')]
  const run = await given({ says, tools, spec })
  expect(await run.drive()).toEqual({ end: 'waiting', for: 'approval', toolCallIds: [run.call(1)] })
  return { ...run, write: tools[0]! }
}

describe('approvals (5.12.2)', () => {
  test('the call waits, started and without an intent; approved, it runs once', async () => {
    const run = await waiting()
    const [start] = await run.of('tool_call_start')
    expect(start?.body).toMatchObject({ intent: false, attempt: 1 })
    await run.say({ kind: 'decide_approval', toolCallId: run.call(1), decision: 'approved', reason: 'fine' })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(run.write.ran).toHaveLength(1)
    const [decided] = await run.of('approval_decided')
    expect(decided).toMatchObject({ actor: { kind: 'approver', id: 'tester' }, turn: 1, body: { reason: 'fine' } })
    expect((await run.types()).filter((type) => type === 'tool_call_intent')).toHaveLength(1)
  })

  test('a second decision is 409, and so is one on a call that is not open', async () => {
    const run = await waiting()
    const approve = { kind: 'decide_approval', toolCallId: run.call(1), decision: 'approved' } as const
    await run.say(approve)
    await expect(run.say({ ...approve, decision: 'rejected' })).rejects.toMatchObject({
      code: 'APPROVAL_NOT_PENDING',
    })
    await expect(run.say({ ...approve, toolCallId: 'none' })).rejects.toMatchObject({
      code: 'CALL_NOT_OPEN',
    })
  })

  test('single use: the same call again asks again', async () => {
    const run = await waiting({}, [writes, writes, completes()])
    await run.say({ kind: 'decide_approval', toolCallId: run.call(1), decision: 'approved' })
    expect(await run.drive()).toMatchObject({ for: 'approval', toolCallIds: [run.call(2)] })
  })

  test('a rejection is told with its reason; it is no violation and no failed call', async () => {
    const run = await waiting({}, [...Array(6).fill(writes), completes()])
    for (let turn = 1; turn <= 6; turn++) {
      await run.say({ kind: 'decide_approval', toolCallId: run.call(turn), decision: 'rejected', reason: 'not there' })
      await run.drive()
    }
    expect((await run.state()).machine.status).toBe('DONE')
    expect(run.write.ran).toEqual([])
    expect(new Set(await run.ends())).toEqual(new Set(['write_file: APPROVAL_REJECTED', 'complete_task: ok']))
    expect(run.seen(1).at(-1)).toMatchObject({ content: expect.stringContaining('not there') })
  })

  test('it expires after approvalTtlMs, a day by default', async () => {
    const run = await waiting()
    run.clock.time += 86_400_000
    const late = run.say({ kind: 'decide_approval', toolCallId: run.call(1), decision: 'approved' })
    await expect(late).rejects.toMatchObject({ code: 'APPROVAL_EXPIRED' })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(await run.ends()).toEqual(['write_file: APPROVAL_EXPIRED', 'complete_task: ok'])
    expect(await run.of('approval_expired')).toHaveLength(1)
    expect(run.write.ran).toEqual([])
  })

  test('it survives a restart', async () => {
    const run = await waiting()
    const signal = new AbortController().signal
    const other = run.elsewhere()
    expect(await other.drive(run.runId, { signal })).toMatchObject({ for: 'approval' })
    await run.say({ kind: 'decide_approval', toolCallId: run.call(1), decision: 'approved' })
    expect(await other.drive(run.runId, { signal })).toEqual({ end: 'done' })
    expect(run.write.ran).toHaveLength(1)
  })

  test('a standing approval is a fact with its approver, and answers beforehand', async () => {
    const run = await given({ says: [writes, completes()], tools: [write()] })
    await run.say({ kind: 'standing_approval', tools: ['file_write'], reason: 'trusted' })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect((await run.of('standing_approval'))[0]).toMatchObject({ actor: { kind: 'user', id: 'tester' } })
  })

  test('one that is given with the start is in the same append, so that no driver comes before it', async () => {
    const h = harness((_, n) => (n === 1 ? writes : completes()), { tools: [write()] })
    const approve = ['write_file']
    const start = { kind: 'start' as const, spec: testSpec({}, [write()]), task: 'x', approve }
    const runId = h.runtime.newRunId()
    expect(await h.runtime.execute(runId, start, { by: USER })).toMatchObject({ recorded: true, revision: 2 })
    expect((await h.events(runId)).at(-1)).toMatchObject({ type: 'standing_approval', actor: { kind: 'approver' } })
    expect(await h.drive(runId)).toEqual({ end: 'done' })
  })

  test('one that is given while calls wait releases those that it covers, and no others', async () => {
    const both = calls(call('peek'), call('look'))
    const policy = { mode: 'batch', requiresApproval: ['*'] }
    const run = await given({ says: [both, completes()], tools: [tool('peek'), tool('look')], spec: { policy } })
    const asked = [run.call(1, 0), run.call(1, 1)]
    expect(await run.drive()).toEqual({ end: 'waiting', for: 'approval', toolCallIds: asked })
    await run.say({ kind: 'standing_approval', tools: ['peek'], reason: 'trusted' })
    expect(await run.drive()).toEqual({ end: 'waiting', for: 'approval', toolCallIds: asked.slice(1) })
    const decided = await run.of('approval_decided')
    expect(decided).toMatchObject([{ toolCallId: asked[0], body: { reason: 'trusted' }, actor: { kind: 'approver' } }])
    await run.say({ kind: 'standing_approval', tools: ['*'] })
    expect(await run.drive()).toEqual({ end: 'done' })
  })

  test('one that comes when the time of a call is over does not bring it back', async () => {
    const run = await waiting()
    run.clock.time += 100_000_000
    await run.say({ kind: 'standing_approval', tools: ['*'] })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(await run.ends()).toEqual(['write_file: APPROVAL_EXPIRED', 'complete_task: ok'])
  })

  test('requiresApproval holds in both modes; write_file and run_command are sensitive in interactive mode only', async () => {
    const looks = calls(call('look'))
    for (const mode of ['interactive', 'batch'])
      await waiting({ policy: { mode, requiresApproval: ['look'] } }, [looks, completes()])
    const run_command = tool('run_command', { effect: 'irreversible' })
    const run = await given({ says: [calls(call('run_command')), completes()], tools: [run_command] })
    expect(await run.drive()).toMatchObject({ for: 'approval' })
    const batch = await given({ says: [writes, completes()], tools: [write()], spec: { policy: { mode: 'batch' } } })
    expect(await batch.drive()).toEqual({ end: 'done' })
  })

  test('control tools are not sensitive: * does not cover them', async () => {
    const set = calls(call('set_context', { key: 'k', value: 1 }))
    const run = await given({ says: [set, completes()], spec: { policy: { requiresApproval: ['*'] } } })
    expect(await run.drive()).toEqual({ end: 'done' })
  })

  test('waiting costs no wall-clock time', async () => {
    const run = await waiting({ limits: { maxTurns: 25, wallClockMs: 5_000 } })
    run.clock.time += 3_600_000
    await run.say({ kind: 'decide_approval', toolCallId: run.call(1), decision: 'approved' })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(await run.of('recovery')).toEqual([])
  })
})

describe('a tool that has changed while its approval was open (5.12.2)', () => {
  const redefined = (description: string, parameters: ToolMeaning['parameters'] = {}): ToolMeaning => ({
    ...{ description, parameters },
    effect: 'irreversible',
  })
  /** A tool that is now another one than the run knows, until that is what the run knows. */
  const changed = async (now = redefined('Sends to all.'), policy: object = { requiresApproval: ['send'] }) => {
    const sent: string[] = []
    const send = tool('send', { effect: 'irreversible' }, (_, context) => {
      if (context.tool?.description !== now.description) throw new ToolChanged(now, 'its server has changed send')
      sent.push(context.toolCallId)
      return 'sent'
    })
    const says = [calls(call('send', { n: 1 })), completes()]
    const run = await given({ says, tools: [send], spec: { policy } })
    const approve = () => run.say({ kind: 'decide_approval', toolCallId: run.call(1), decision: 'approved' })
    return { ...run, approve, sent }
  }

  test('voids the approval: nothing is done, the log has the tool as it is now, and a person is asked anew', async () => {
    const run = await changed()
    await run.drive()
    await run.approve()
    expect(await run.drive()).toEqual({ end: 'waiting', for: 'approval', toolCallIds: [run.call(1)] })
    expect(run.sent).toEqual([])
    const [voided] = await run.of('approval_voided')
    expect(voided!.body).toMatchObject({
      reason: 'its server has changed send',
      tool: { description: 'Sends to all.' },
    })
    expect((await run.of('approval_requested')).at(-1)!.body.reason).toBe(
      'the approval is void: its server has changed send',
    )
    await run.approve()
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(run.sent).toEqual([run.call(1)])
    expect(await run.ends()).toEqual(['send: ok', 'complete_task: ok'])
  })

  test('ends the call where the tool no longer takes its arguments, and shows the model the new tool', async () => {
    const strict = { type: 'object', properties: { m: { type: 'number' } }, required: ['m'] }
    const run = await changed(redefined('Sends m.', strict))
    await run.drive()
    await run.approve()
    expect(await run.drive()).toEqual({ end: 'done' })
    expect([run.sent, await run.ends()]).toEqual([[], ['send: CONFLICT', 'complete_task: ok']])
    const told = run.requests.map(({ tools }) => tools.find(({ name }) => name === 'send')!.description)
    expect(told).toEqual([expect.not.stringContaining('Sends m.'), 'Sends m.'])
  })

  test('ends a call that no person had to approve', async () => {
    const run = await changed(redefined('Sends to all.'), {})
    expect(await run.drive()).toEqual({ end: 'done' })
    expect([run.sent, await run.ends()]).toEqual([[], ['send: CONFLICT', 'complete_task: ok']])
    expect(await run.of('approval_voided')).toEqual([])
  })

  test('is asked about five times at most', async () => {
    let times = 0
    const send = tool('send', {}, () => {
      throw new ToolChanged(redefined(`Version ${++times}.`), 'its server has changed send')
    })
    const spec = { policy: { requiresApproval: ['send'] } }
    const run = await given({ says: [calls(call('send')), completes()], tools: [send], spec })
    let asked = 0
    for (let end = await run.drive(); end.end === 'waiting'; end = await run.drive()) {
      asked++
      await run.say({ kind: 'decide_approval', toolCallId: run.call(1), decision: 'approved' })
    }
    expect([asked, await run.ends()]).toEqual([6, ['send: CONFLICT', 'complete_task: ok']])
  })
})

describe('a tool that changes while a person has still to decide (5.12.2)', () => {
  const FIRST = toolSpec('send', { effect: 'irreversible', description: 'Sends to one.' })
  const NOW = { ...FIRST, description: 'Sends to all.' }
  const STRICT = { type: 'object', properties: { m: { type: 'number' } }, required: ['m'] }
  const open = async () => {
    const send = tool('send', FIRST)
    const says = [calls(call('send', { n: 1 })), completes()]
    const run = await given({ says, tools: [send], spec: { policy: { requiresApproval: ['send'] } } })
    await run.drive()
    const offered = (now: ToolSpec = NOW, folder: string | null = null) =>
      run.runtime.toolsOffered(run.runId, [now], folder)
    const approve = () => run.say({ kind: 'decide_approval', toolCallId: run.call(1), decision: 'approved' })
    return { ...run, send, offered, approve }
  }

  test('voids the approval at once, and asks for another one of the tool as it is now', async () => {
    const run = await open()
    expect(await run.offered()).toBe(true)
    const [voided] = await run.of('approval_voided')
    expect(voided).toMatchObject({
      actor: { kind: 'system' },
      body: {
        attempt: 2,
        reason: 'its MCP server has changed description of send',
        tool: { description: NOW.description },
      },
    })
    expect((await run.of('approval_requested')).map(({ body }) => body.reason)).toEqual([
      expect.anything(),
      'the approval is void: its MCP server has changed description of send',
    ])
    expect(await run.drive()).toEqual({ end: 'waiting', for: 'approval', toolCallIds: [run.call(1)] })
    await run.approve()
    expect(await run.drive()).toEqual({ end: 'done' })
    expect([run.send.ran, (await run.of('tool_call_intent'))[0]!.body.attempt]).toEqual([[{ n: 1 }], 2])
  })

  test('is recorded once, however often and from how many processes the news comes', async () => {
    const run = await open()
    expect((await Promise.all([run.offered(), run.offered(), run.offered()])).filter(Boolean)).toHaveLength(1)
    expect(await run.offered()).toBe(false)
    expect(await run.of('approval_voided')).toHaveLength(1)
  })

  test('ends the call where the tool no longer takes its arguments', async () => {
    const run = await open()
    await run.offered({ ...NOW, parameters: STRICT })
    await expect(run.approve()).rejects.toMatchObject({ code: 'APPROVAL_NOT_PENDING' })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect([run.send.ran, await run.ends()]).toEqual([[], ['send: CONFLICT', 'complete_task: ok']])
  })

  test('voids nothing where the tool is the same, the folder another one, or the decision made', async () => {
    const run = await open()
    expect([await run.offered(FIRST), await run.offered(NOW, '/elsewhere')]).toEqual([false, false])
    await run.approve()
    expect(await run.offered()).toBe(false)
    expect(await run.of('approval_voided')).toEqual([])
  })

  test('is asked about five times at most', async () => {
    const run = await open()
    for (let i = 0; i < 5; i++) expect(await run.offered({ ...NOW, description: `Version ${i}.` })).toBe(true)
    expect(await run.ends()).toEqual([])
    await run.offered({ ...NOW, description: 'One more.' })
    expect(await run.ends()).toEqual(['send: CONFLICT'])
  })
})
