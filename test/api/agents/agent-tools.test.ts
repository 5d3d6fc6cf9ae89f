// @module-tag git
import { expect, it, onTestFinished, vi } from 'vitest'
import { treeLines } from '../../../api/cli/output/tree-text.ts'
import { opened } from '../support/agent-delegation.ts'
import { noting, reachingAgent } from '../support/agent-tools.ts'
import { appOver } from '../support/http.ts'

// keepup's own tools, called by another agent while it works (CONTRACTS 13): each call is judged, recorded and performed as one of
// keepup's own agents.

it('a call is judged, recorded in the stream of the agent before and after, and answered', async () => {
  const { tool, calls } = noting()
  const { backend, answers, listed } = reachingAgent(async (call) => {
    await call('notes__add', { text: 'one' })
  })
  const { keepup, lead, events } = await opened([backend], {}, undefined, { tools: [tool] })
  const { runId } = await lead()
  expect(await keepup.drive(runId)).toEqual({ end: 'done' })
  expect(listed).toEqual([expect.arrayContaining(['notes__add', 'remember', 'recall'])])
  expect(listed[0]).not.toEqual(expect.arrayContaining(['write_file']))
  expect(answers).toEqual([{ text: 'noted one', isError: false }])
  const all = (await events()).filter(({ stream }) => stream.startsWith('external-'))
  const ofCall = all.filter(({ toolCallId }) => toolCallId !== undefined)
  expect(ofCall.map(({ type }) => type)).toEqual(['tool_call_requested', 'tool_call_start', 'tool_call_end'])
  expect(ofCall[0]!.body).toMatchObject({ content: [{ input: { text: 'one' } }], calls: [{ toolName: 'notes:add' }] })
  expect(ofCall[1]!.body).toMatchObject({ intent: true, effect: 'irreversible' })
  expect(ofCall[2]!.body).toMatchObject({ success: true, result: 'noted one' })
  expect(calls).toEqual([{ args: { text: 'one' }, toolCallId: ofCall[0]!.toolCallId }])
  expect((await keepup.verifyRun({ id: runId })).ok).toBe(true)
  const child = (await keepup.getRunTree({ id: runId })).agents.find(({ parentId }) => parentId === runId)
  expect(child).toMatchObject({ ungoverned: true, own: { toolCalls: 1 } })
  expect(treeLines(await keepup.getRunTree({ id: runId }), null).join('\n')).toContain(
    "ungoverned but for 1 call of keepup's tools",
  )
})

it('a call is performed at once where the clock is behind the log', async () => {
  const { tool, calls } = noting()
  const { backend, answers } = reachingAgent(async (call) => {
    const behind = Date.now() - 3_600_000
    const clock = vi.spyOn(keepup.services.clock, 'now').mockImplementation(() => behind)
    onTestFinished(() => clock.mockRestore())
    await call('notes__add', { text: 'one' })
  })
  const { keepup, lead } = await opened([backend], {}, undefined, { tools: [tool] })
  const { runId } = await lead()
  void keepup.drive(runId)
  await expect.poll(() => answers).toEqual([{ text: 'noted one', isError: false }])
  expect(calls.length).toBe(1)
})

it('what is refused is recorded with its code, and nothing is done', async () => {
  const { tool, calls } = noting()
  const { backend, answers } = reachingAgent(async (call) => {
    await call('write_file', { path: 'a', content: 'b' })
    await call('notes__add', { text: 1 })
    await call('notes__add', { text: 'a\0b' })
  })
  const { keepup, lead, events, sql } = await opened([backend], {}, undefined, { tools: [tool] })
  await keepup.drive((await lead()).runId)
  expect(answers.map(({ text, isError }) => [isError, text.split(':')[0]])).toEqual([
    [true, 'RESOURCE_NOT_FOUND'],
    [true, 'INVALID_ARGUMENTS'],
    [true, 'INVALID_ARGUMENTS'],
  ])
  expect(calls).toEqual([])
  const ends = (await events()).filter(({ type, stream }) => type === 'tool_call_end' && stream.startsWith('external-'))
  expect(ends.map(({ body }) => body.step)).toEqual([1, 2, 3])
  const rows = await sql(
    'select tool_name, status, code from tool_calls where agent_id in (select id from agents where ungoverned = 1) order by id',
  )
  expect(rows).toEqual([
    { tool_name: 'write_file', status: 'failed', code: 'RESOURCE_NOT_FOUND' },
    { tool_name: 'notes:add', status: 'failed', code: 'INVALID_ARGUMENTS' },
    { tool_name: 'notes:add', status: 'failed', code: 'INVALID_ARGUMENTS' },
  ])
})

it('a long result is kept whole, and its agent is told the beginning and the end', async () => {
  const long = `${'x'.repeat(99_999)}y`
  const { tool } = noting({}, async () => ({ content: long }))
  const { backend, answers } = reachingAgent(async (call) => void (await call('notes__add', { text: 'one' })))
  const { keepup, lead, events } = await opened([backend], {}, undefined, { tools: [tool] })
  const { runId } = await lead()
  await keepup.drive(runId)
  expect(answers[0]?.text.length).toBeLessThan(40_000)
  const { toolCallId } = (await events()).find(({ type }) => type === 'tool_call_requested')!
  const { ask } = appOver(keepup.services, 'scripted:lead')
  expect(await (await ask('GET', `/v1/results/${toolCallId}`)).text()).toBe(long)
  expect((await keepup.verifyRun({ id: runId })).ok).toBe(true)
})

it('a tool that the policy denies is not offered, and one that it asks for waits for a person', async () => {
  const [noted, other] = [noting(), noting({ name: 'notes:drop' })]
  const { backend, answers, listed } = reachingAgent(async (call) => {
    await Promise.all([call('notes__add', { text: 'yes' }), call('notes__add', { text: 'no' })])
  })
  const { keepup, lead, sql } = await opened([backend], {}, undefined, { tools: [noted.tool, other.tool] })
  const { runId } = await lead({ deniedTools: ['notes:drop'], requiresApproval: ['notes:add'] })
  const driven = keepup.drive(runId)
  const { ask, answer: decide } = appOver(keepup.services, 'scripted:lead')
  // Calls that may touch the same run one after the other, so that the second is asked about when the first has ended.
  for (const decision of ['approved', 'rejected'] as const) {
    const pending = () => Array.fromAsync(keepup.approvals())
    await expect.poll(async () => (await pending()).length).toBe(1)
    const [{ toolCallId } = expect.fail()] = await pending()
    const asked = (await (await ask('GET', `/v1/approvals/${toolCallId}`)).json()) as { approval: object }
    expect(asked.approval).toMatchObject({
      toolName: 'notes:add',
      arguments: { text: decision === 'approved' ? 'yes' : 'no' },
    })
    expect((await decide(toolCallId, { decision, by: 'ada' })).status).toBe(200)
  }
  expect(await driven).toEqual({ end: 'done' })
  expect(listed[0]).not.toContain('notes__drop')
  expect(answers.map(({ text }) => text).sort()).toEqual([
    'APPROVAL_REJECTED: the user rejected this call',
    'noted yes',
  ])
  expect(noted.calls.map(({ args }) => args)).toEqual([{ text: 'yes' }])
  expect(await sql('select status, decided_by from approvals order by status')).toEqual([
    { status: 'approved', decided_by: 'approver:ada' },
    { status: 'rejected', decided_by: 'approver:ada' },
  ])
})
