// @module-tag git
import { expect, it, onTestFinished } from 'vitest'
import { AgentError, CANCELLED } from '../../../domain/external/errors.ts'
import { opened } from '../support/agent-delegation.ts'
import { noting, reachingAgent } from '../support/agent-tools.ts'

// What ends, holds or hides a call of keepup's own tools by another agent.

type Opened = Awaited<ReturnType<typeof opened>>
const ends = async ({ events }: Opened) =>
  (await events())
    .filter(({ type, stream }) => type === 'tool_call_end' && stream.startsWith('external-'))
    .map(({ body }) => (body.success ? body.result : body.error.code))

it('a cancel of the run breaks off a call that is at work, which ends before the agent does', async () => {
  const begun = Promise.withResolvers<void>()
  const { tool } = noting({ effect: 'irreversible' }, async (_, { signal }) => {
    begun.resolve()
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    throw signal.reason
  })
  const { backend, answers } = reachingAgent(async (call, { signal }) => {
    await call('notes__add', { text: 'one' })
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
    throw new AgentError('Backend', CANCELLED, { exit: { code: null, signal: 'SIGTERM' } })
  })
  const place = await opened([backend], {}, undefined, { tools: [tool] })
  const { runId } = await place.lead()
  const driven = place.keepup.drive(runId)
  await begun.promise
  await place.keepup.say(runId, { kind: 'cancel', reason: 'enough', deadlineMs: 30_000 })
  await driven
  expect(await ends(place)).toEqual(['CANCELLED'])
  expect(answers.map(({ isError }) => isError)).toEqual([true])
  const types = (await place.events()).filter(({ stream }) => stream.startsWith('external-')).map(({ type }) => type)
  expect(types.indexOf('tool_call_end')).toBeLessThan(types.indexOf('external_ended'))
})

it('an agent that ends while its call waits for a person leaves nothing that waits', async () => {
  const { tool, calls } = noting()
  const { backend } = reachingAgent(async (call) => void call('notes__add', { text: 'one' }))
  const place = await opened([backend], {}, undefined, { tools: [tool] })
  const { runId } = await place.lead({ requiresApproval: ['notes:add'] })
  expect(await place.keepup.drive(runId)).toEqual({ end: 'done' })
  expect([await ends(place), calls, await Array.fromAsync(place.keepup.approvals())]).toEqual([['CANCELLED'], [], []])
})

it('a call that its agent does not wait for is not begun', async () => {
  const { tool, calls } = noting()
  const { backend } = reachingAgent(async (call) => {
    const left = new AbortController()
    const answer = call('notes__add', { text: 'one' }, left.signal)
    left.abort()
    await answer
  })
  const place = await opened([backend], {}, undefined, { tools: [tool] })
  await place.keepup.drive((await place.lead({ requiresApproval: ['notes:add'] })).runId)
  expect([await ends(place), calls]).toEqual([['CANCELLED'], []])
})

it('in a pause of its parent no call is begun, and after it the call goes on', async () => {
  const { tool, calls } = noting()
  const reached = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  const { backend, answers } = reachingAgent(async (call) => {
    reached.resolve()
    await go.promise
    await call('notes__add', { text: 'one' })
  })
  const place = await opened([backend], {}, undefined, { tools: [tool] })
  const { runId } = await place.lead()
  const driven = place.keepup.drive(runId)
  await reached.promise
  await place.keepup.say(runId, { kind: 'pause' })
  go.resolve()
  const asked = async () => (await place.events()).filter(({ type }) => type === 'tool_call_requested').length
  await expect.poll(asked).toBe(1)
  expect(calls).toEqual([])
  await place.keepup.say(runId, { kind: 'resume' })
  expect(await driven).toEqual({ end: 'done' })
  expect(answers).toEqual([{ text: 'noted one', isError: false }])
})

it('a failure that passes is tried again where the tool may be, and is one call', async () => {
  let tries = 0
  const { tool } = noting({ effect: 'idempotent' }, async () => {
    if (++tries === 1) throw Object.assign(new Error('busy'), { name: 'ToolError', code: 'NETWORK', transient: true })
    return { content: 'second' }
  })
  const { backend, answers } = reachingAgent(async (call) => void (await call('notes__add', { text: 'one' })))
  const place = await opened([backend], {}, undefined, { tools: [tool] })
  await place.keepup.drive((await place.lead({}, { retry: { backoffMs: 1 } })).runId)
  expect([answers, await ends(place)]).toEqual([[{ text: 'second', isError: false }], ['second']])
})

it('a secret is resolved for the tool, and neither the log nor the agent sees it', async () => {
  const SECRET = 'c0rrect-h0rse-battery-staple-42'
  const before = process.env.NOTES_KEY
  process.env.NOTES_KEY = SECRET
  onTestFinished(() => {
    if (before === undefined) delete process.env.NOTES_KEY
    else process.env.NOTES_KEY = before
  })
  const { tool, calls } = noting({}, async ({ text }) => ({ content: `kept ${text}` }))
  const { backend, answers } = reachingAgent(async (call) => void (await call('notes__add', { text: `key ${SECRET}` })))
  const place = await opened([backend], {}, undefined, { tools: [tool] })
  const { runId } = await place.lead({}, { secrets: ['NOTES_KEY=@server:notes'] })
  await place.keepup.drive(runId)
  expect(calls[0]?.args).toEqual({ text: `key ${SECRET}` })
  expect(answers[0]?.text).toMatch(/^kept key secret:ku_\w{26}$/)
  expect(JSON.stringify(await place.events())).not.toContain(SECRET)
})

it('what another agent remembers is found by keepup’s own agents', async () => {
  const { backend, answers } = reachingAgent(async (call) => {
    await call('remember', { text: 'The port is 4711.' })
    await call('recall', { query: 'port' })
  })
  const place = await opened([backend])
  await place.keepup.drive((await place.lead()).runId)
  expect(answers.map(({ isError }) => isError)).toEqual([false, false])
  expect(answers[1]?.text).toContain('The port is 4711.')
})
