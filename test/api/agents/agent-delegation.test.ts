// @module-tag git
import { expect, it } from 'vitest'
import { AgentError, CANCELLED } from '../../../domain/external/errors.ts'
import type { AgentBackend } from '../../../domain/ports/external.ts'
import { finish, MODE, opened, otherAgent } from '../support/agent-delegation.ts'
import { appOver } from '../support/http.ts'

// Delegation to other agents as a program sees it (CONTRACTS 13): the settings give a role to a kind, the policy grants it.

it('a role that is given to another agent is started once, and its end is the result of the call', async () => {
  const { backend, starts } = otherAgent()
  const { keepup, ws, lead, events, ended } = await opened([backend])
  const { runId } = await lead()
  expect(await keepup.drive(runId)).toEqual({ end: 'done' })
  expect(starts).toEqual([
    expect.objectContaining({
      workingDir: ws,
      extensions: { [MODE]: 'all' },
      prompt: expect.stringMatching(/code it$/),
    }),
  ])
  expect(await ended()).toMatchObject({ success: true, result: { summary: 'It is written.' } })
  const all = await events()
  const child = all.find(({ type }) => type === 'child_ended')!.body
  expect(child.report.spent).toMatchObject({ input: 60, cacheRead: 40, output: 20, nanoDollars: 5_000, agents: 1 })
  const types = all.filter(({ stream }) => stream === `external-${child.childId}`).map(({ type }) => type)
  const once = ['external_started', 'process_start', 'external_ended', 'delivered']
  expect(types.filter((type) => once.includes(type))).toEqual(once)
  expect((await keepup.verifyRun({ id: runId })).ok).toBe(true)
})

it('what its rights cannot be mapped to is refused with a code, and nothing is started', async () => {
  const { backend, starts } = otherAgent()
  const { keepup, lead, events, ended } = await opened([backend])
  await keepup.drive((await lead({ sandboxed: true, deniedTools: ['read_file', 'run_command'] })).runId)
  expect((await ended())?.error).toMatchObject({ code: 'PERMISSION_DENIED', rule: 'backend_rights' })
  expect([starts, (await events()).filter(({ stream }) => stream.startsWith('external-'))]).toEqual([[], []])
})

it('an agent whose writes are approved one by one may only read through another agent', async () => {
  const { backend, starts } = otherAgent()
  const { keepup, lead } = await opened([backend])
  await keepup.drive((await lead({ requiresApproval: ['write_file', 'run_command'] })).runId)
  expect(starts.map(({ extensions }) => extensions)).toEqual([{ [MODE]: 'read' }])
})

it('what several people must approve is not given to another agent by one, without access too', async () => {
  const answers: (string | null)[] = []
  const { backend } = otherAgent(async ({ ask }) => {
    for (const tool of ['look', 'execute']) answers.push(await ask!({ tool, title: 'do it', input: {} }))
    return { status: { code: 0, signal: null }, success: true, finalText: 'It is written.' }
  })
  const { keepup, lead } = await opened([backend])
  const { runId } = await lead({ approvers: [{ tools: ['execute'], count: 2 }] })
  const driven = keepup.drive(runId)
  const { answer } = appOver(keepup.services, 'scripted:lead')
  const decide = async (n: number, decision: string) => {
    const waiting = async () => (await Array.fromAsync(keepup.approvals()))[0]?.toolCallId
    await expect.poll(waiting).toMatch(new RegExp(`c${n}$`))
    const response = await answer((await waiting())!, { decision })
    return ((await response.json()) as { code?: string }).code
  }
  expect(await decide(0, 'approved')).toBeUndefined()
  expect(await decide(1, 'approved')).toBe('RUN_UNGOVERNED')
  expect(await decide(1, 'rejected')).toBeUndefined()
  expect(await driven).toEqual({ end: 'done' })
  expect(answers).toEqual(['approved', 'rejected'])
})

it('without a grant of the policy the role is keepup’s own agent', async () => {
  const { backend, starts } = otherAgent()
  const { keepup, lead, events } = await opened([backend])
  await keepup.drive((await lead({ backends: undefined })).runId)
  expect(starts).toEqual([])
  expect(
    (await events()).filter(({ type }) => type === 'child_delegated').every(({ body }) => body.backend === undefined),
  ).toBe(true)
})

it('a grant of a kind that no role is given to is refused, and so is money that nothing counts', async () => {
  const { backend } = otherAgent()
  const { lead } = await opened([{ ...backend, reportsCost: false }])
  await expect(lead({ backends: ['codex'] })).rejects.toMatchObject({ code: 'UNKNOWN_AGENT' })
  await expect(lead({}, { budget: { nanoDollars: 1_000_000 } })).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
})

it('a cancel of the run reaches the other agent, whose end is waited for', async () => {
  const asked = Promise.withResolvers<void>()
  const { backend } = otherAgent(async ({ signal }) => {
    asked.resolve()
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    throw new AgentError('Backend', CANCELLED, { exit: { code: null, signal: 'SIGTERM' } })
  })
  const { keepup, lead, events, ended } = await opened([backend])
  const { runId } = await lead()
  const driven = keepup.drive(runId)
  await asked.promise
  await keepup.services.runtime.execute(
    runId,
    { kind: 'cancel', reason: 'enough', deadlineMs: 30_000 },
    { by: { kind: 'user', id: 'ada' } },
  )
  await driven
  const all = await events()
  expect(all.find(({ type }) => type === 'external_ended')?.body).toMatchObject({ outcome: 'cancelled' })
  expect(
    all.find(({ type, stream }) => type === 'cancel_requested' && stream.startsWith('external-'))?.body,
  ).toMatchObject({
    reason: 'enough',
    origin: { stream: `agent-${runId}` },
  })
  expect((await ended())?.error).toMatchObject({ code: 'CANCELLED' })
})

it('an agent over its budget is ended, and the call says so', async () => {
  const { backend } = otherAgent(async ({ signal }) => {
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
    throw new AgentError('Backend', CANCELLED, { exit: { code: null, signal: 'SIGTERM' } })
  })
  const emits = {
    ...backend,
    start: ((_, run) =>
      backend.start(_, {
        ...run,
        emit: (told) => run.emit({ ...told, ...(told.usage && { usage: { ...told.usage, outputTokens: 900_000 } }) }),
      })) as AgentBackend['start'],
  }
  const { keepup, lead, ended } = await opened([emits])
  await keepup.drive((await lead({}, { budget: { tokens: 200_000 } })).runId)
  expect((await ended())?.error).toMatchObject({ code: 'BUDGET_EXCEEDED' })
})

it('an agent that cannot be started is a failed call, and is not tried again', async () => {
  const { backend, starts } = otherAgent(async () => {
    throw new AgentError('Backend', 'the program was not found')
  })
  const { keepup, lead, ended } = await opened([backend])
  const { runId } = await lead()
  expect(await keepup.drive(runId)).toEqual({ end: 'done' })
  expect((await ended())?.error).toMatchObject({
    code: 'EXECUTION_FAILED',
    message: expect.stringContaining('not found'),
  })
  expect(starts).toHaveLength(1)
})

it('in a pause no other agent is started, and one that is at work goes on to its end', async () => {
  const [asked, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const { backend, starts } = otherAgent(async () => {
    asked.resolve()
    await go.promise
    return { status: { code: 0, signal: null }, success: true, finalText: 'Done.' }
  })
  const part = (task: string) => ({ tool: 'delegate_to_agent', arguments: { role: 'coder', task } })
  const two = { script: 1 as const, turns: [{ calls: [part('one'), part('two')] }, finish('Both are done.')] }
  const { keepup, lead, events } = await opened([backend], { two })
  const { runId } = await lead({}, { model: 'scripted:two' })
  const driven = keepup.drive(runId)
  await asked.promise
  await keepup.services.runtime.execute(runId, { kind: 'pause' }, { by: { kind: 'user', id: 'ada' } })
  go.resolve()
  expect(await driven).toMatchObject({ end: 'waiting', for: 'pause' })
  expect([starts.length, (await events()).filter(({ type }) => type === 'child_ended').length]).toEqual([1, 1])
  await keepup.services.runtime.execute(runId, { kind: 'resume' }, { by: { kind: 'user', id: 'ada' } })
  expect(await keepup.drive(runId)).toEqual({ end: 'done' })
  expect(starts).toHaveLength(2)
})

it('the deadline of the run is that of the other agent, and the run is due by then', async () => {
  const [asked, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const { backend, starts } = otherAgent(async () => {
    asked.resolve()
    await go.promise
    return { status: { code: 0, signal: null }, success: true, finalText: 'Done.' }
  })
  const { keepup, lead } = await opened([backend])
  const { runId } = await lead({}, { limits: { wallClockMs: 60_000 } })
  const driven = keepup.drive(runId)
  await asked.promise
  expect(starts.map(({ timeoutMs }) => timeoutMs)).toEqual([60_000])
  // Where this process is killed now, another one finds the run.
  await keepup.services.read.caughtUp()
  const due = await keepup.services.read.due(Number.MAX_SAFE_INTEGER, { asked: false })
  expect(due.map((one) => one.runId)).toEqual([runId])
  go.resolve()
  expect(await driven).toEqual({ end: 'done' })
})
