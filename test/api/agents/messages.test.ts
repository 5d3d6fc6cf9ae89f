import { setImmediate as turnOfLoop } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  type KeepUp,
  type KeepUpOptions,
  openKeepUp,
  type RuntimeEvent,
  type RuntimeMessage,
} from '../../../api/index.ts'
import { defineTool, z } from '../../../api/library/tool-kit.ts'
import { sendPersonMessage } from '../../../api/operations/messages/send.ts'
import type { Json, JsonObject } from '../../../domain/log/json.ts'
import { freshFolders } from '../../support/folders.ts'
import { inProcess } from '../support/cli.ts'
import { appOver, bodyOf } from '../support/http.ts'

// Messages between the agents of a run and people, as programs, HTTP and the command line use them.

const turn = (tool: string, args: JsonObject) => ({ calls: [{ tool, arguments: args }] })
const done = turn('complete_task', { summary: `read: \${lastInput}` })
const ask = (to: string, payload: Json) => turn('send_message', { to, payload, expectReply: true })
const delegations = ['listen to the news', 'make the news'].map((task) => ({
  tool: 'delegate_to_agent',
  arguments: { role: 'researcher', task },
}))

const scripts = {
  alone: {
    script: 1,
    turns: [turn('send_message', { to: 'ghost', payload: 'boo' }), ask('user:ann', { port: '?' }), done],
  },
  answers: {
    script: 1,
    turns: [turn('my__get_id', {}), turn('respond', { request: `\${lastResult/id}`, payload: 8080 }), done],
  },
  silent: { script: 1, turns: [turn('my__get_id', {}), done, done] },
  tree: {
    script: 1,
    turns: [done],
    parts: [
      { name: 'root', when: { firstInputContains: 'go' }, turns: [{ calls: delegations }, done] },
      {
        name: 'hears',
        when: { firstInputContains: 'listen' },
        turns: [turn('subscribe', { topic: 'news' }), ask('user:ann', 'ready'), done, done],
      },
      {
        name: 'tells',
        when: { firstInputContains: 'make' },
        turns: [ask('user:bob', 'when?'), turn('publish', { topic: 'news', payload: ['rain'] }), done],
      },
    ],
  },
} satisfies KeepUpOptions['scripts']

let folders: ReturnType<typeof freshFolders>
let keepup: KeepUp
let request: PromiseWithResolvers<string>

beforeEach(async () => {
  folders = freshFolders()
  request = Promise.withResolvers()
  const getId = defineTool({
    name: 'my:get_id',
    description: 'Gives the id of the request that was sent to the agent.',
    parameters: z.strictObject({}),
    effect: 'pure',
    timeLimitMs: 20_000,
    run: async () => ({ content: { id: await request.promise } }),
  })
  keepup = await openKeepUp({ data: folders.data, scripts, by: 'ada', tools: [getId] })
})
afterEach(async () => {
  await keepup?.close()
  folders.remove()
})

const start = async (script: string, task = 'go', more: object = {}) =>
  (await keepup.start({ task, model: `scripted:${script}`, policy: { mode: 'batch' }, ...more })).runId

/** The next message of a run that is sent to someone. */
async function next(runId: string, to: string): Promise<RuntimeMessage> {
  for await (const message of keepup.messages.subscribe(runId, { to })) return message
  throw new Error('keepup was closed')
}

async function whenRecorded(runId: string, wanted: (event: RuntimeEvent) => boolean): Promise<void> {
  for await (const event of keepup.follow(runId)) if (wanted(event)) return
}

const listed = async (runId: string) => Array.fromAsync(keepup.rows('listMessages', { id: runId }))

it('a run without other agents: an unknown recipient bounces, and a person answers a request', async () => {
  const runId = await start('alone')
  const asked = next(runId, 'user:ann')
  const driven = keepup.drive(runId)
  const { id, from, type, payload } = await asked
  expect({ from, type, payload }).toEqual({ from: runId, type: 'request', payload: { port: '?' } })
  const { agentId } = await keepup.messages.respond(id, { payload: { port: 8080 }, by: 'ann' })
  expect(agentId).toBe(runId)
  expect(await driven).toEqual({ end: 'done' })
  expect((await keepup.run(runId))?.summary).toMatch(/^read: \[Your message .* to ghost was not delivered\]/)
  expect(await listed(runId)).toMatchObject([
    { to: 'ghost', status: 'bounced', reason: 'there is no such agent', receivedBy: [] },
    { id, to: 'user:ann', type: 'request', status: 'received', preview: '{"port":"?"}' },
    { from: 'user:ann', to: runId, type: 'response', correlationId: id, status: 'received', preview: '{"port":8080}' },
  ])
  await expect(keepup.messages.respond(id, { payload: 1 })).rejects.toMatchObject({ code: 'RUN_FINISHED' })
  expect((await keepup.verifyRun({ id: runId })).ok).toBe(true)
})

it('a program asks an agent: it has the answer, or that the agent has finished without one', async () => {
  const runId = await start('answers')
  const answer = keepup.messages.request(runId, { payload: 'which port?' })
  request.resolve((await next(runId, runId)).id)
  expect(await keepup.drive(runId)).toEqual({ end: 'done' })
  expect(await answer).toMatchObject({ from: runId, to: 'user:ada', type: 'response', payload: 8080 })

  const silent = await start('silent')
  const none = keepup.messages.request(silent, { payload: 'which port?' })
  const refused = expect(none).rejects.toMatchObject({ code: 'REQUEST_REFUSED', message: /the agent has finished/ })
  request.resolve('')
  await whenRecorded(silent, ({ type }) => type === 'message_received')
  expect(await keepup.drive(silent)).toEqual({ end: 'done' })
  await refused
  expect(await listed(silent)).toMatchObject([
    { type: 'request', status: 'received' },
    { type: 'response', status: 'received', reason: 'the agent has finished' },
  ])
})

it('each of two messages has its own id, though the other one is recorded before the first is answered', async () => {
  const runId = await start('alone')
  const s = keepup.services
  const body = (payload: string) => ({ payload, expectReply: false })
  const others: Promise<{ id: string }>[] = []
  const read = {
    ...s.read,
    caughtUp: async (...within: Parameters<typeof s.read.caughtUp>) => {
      if (others.length === 0) others.push(sendPersonMessage(s, runId, body('second'), {}))
      await others[0]
      return s.read.caughtUp(...within)
    },
  }
  const first = await sendPersonMessage({ ...s, read }, runId, body('first'), {})
  const found = await listed(runId)
  expect(found.map(({ id, preview }) => [id, preview])).toEqual([
    [first.id, '"first"'],
    [(await others[0])!.id, '"second"'],
  ])
})

it('messages of a keepup that was closed are refused to the reader, whenever it begins', async () => {
  const runId = await start('alone')
  await keepup.close()
  const messages = keepup.messages.subscribe(runId)
  await turnOfLoop()
  await expect(Array.fromAsync(messages)).rejects.toMatchObject({ code: 'LOG_CLOSED' })
})

it('two agents of a run: what one publishes the other reads at its next turn; HTTP and the command line show it', async () => {
  const runId = await start('tree', 'go', { delegation: {} })
  const ready = next(runId, 'user:ann')
  const when = next(runId, 'user:bob')
  const driven = keepup.drive(runId)
  const [hears, tells] = await Promise.all([ready, when])
  const heard = whenRecorded(
    runId,
    ({ type, stream, payload }) =>
      type === 'message_received' && stream.endsWith(hears.from) && payload?.topic === 'news',
  )
  await keepup.messages.respond(tells.id, { payload: 'now' })
  await heard
  await keepup.messages.respond(hears.id, { payload: 'thanks' })
  expect(await driven).toEqual({ end: 'done' })
  const published = (await listed(runId)).find(({ topic }) => topic === 'news')
  expect(published).toMatchObject({ from: tells.from, to: null, type: 'event', receivedBy: [hears.from] })
  const first = (await keepup.getRunTree({ id: runId })).agents.map(({ agentId }) => agentId)
  expect(first).toEqual([runId, hears.from, tells.from])

  const app = appOver(keepup.services, 'scripted:tree')
  const page = await bodyOf<{ messages: { id: string }[] }>(await app.ask('GET', `/v1/runs/${runId}/messages`))
  expect(page.messages).toContainEqual(expect.objectContaining({ id: published!.id, receivedBy: [hears.from] }))
  expect((await app.ask('GET', `/v1/runs/${hears.from}/messages`)).status).toBe(404)
  await keepup?.close()
  const cli = (...args: string[]) => inProcess(['--data', folders.data, ...args], {}, {})
  expect((await cli('messages', runId)).out).toMatch(new RegExp(`${published!.id} +${tells.from} +topic news`))
}, 60_000)

it('over HTTP a person sends, publishes and asks; what cannot be is refused by name, and nothing is recorded', async () => {
  const app = appOver(keepup.services, 'scripted:alone', { maxBodyBytes: 64 * 1024 })
  const runId = await start('alone')
  const headers = { 'idempotency-key': 'm1' }
  const send = (body: object, more = {}) => app.ask('POST', `/v1/runs/${runId}/messages`, { body, headers: more })
  const first = await bodyOf(await send({ payload: 'hi', topic: 'greeting', by: 'bob' }, headers))
  expect(first).toMatchObject({ runId, agentId: runId, id: `${runId}.m${first.revision}` })
  await send({ payload: 'more' })
  expect(await bodyOf(await send({ payload: 'hi', topic: 'greeting', by: 'bob' }, headers))).toMatchObject({
    id: first.id,
  })
  const all = await bodyOf<{ messages: object[] }>(await app.ask('GET', `/v1/runs/${runId}/messages`))
  expect(all.messages).toMatchObject([{ id: first.id, from: 'user:bob', topic: 'greeting' }, { preview: '"more"' }])
  const published = await app.ask('POST', `/v1/runs/${runId}/publications`, { body: { topic: 'news', payload: 1 } })
  expect(published.status).toBe(200)
  const refusals = [
    [await send({ payload: 1, to: 'ghost' }), 404, 'NOT_FOUND'],
    [await send({ payload: 'x'.repeat(40_000) }), 413, 'MESSAGE_TOO_LARGE'],
    [await send({ topic: 't' }), 400, 'INVALID_REQUEST'],
    [await app.ask('POST', `/v1/messages/${first.id}/respond`, { body: { payload: 1 } }), 409, 'REQUEST_NOT_OPEN'],
    [await app.ask('POST', '/v1/messages/x/respond', { body: { payload: 1 } }), 404, 'NOT_FOUND'],
    [await app.ask('GET', '/v1/runs/ghost/messages'), 404, 'NOT_FOUND'],
  ] as const
  for (const [response, status, code] of refusals) {
    expect(response.status, code).toBe(status)
    expect(await bodyOf(response)).toMatchObject({ code })
  }
  expect(await listed(runId)).toHaveLength(3)
})

it('on the command line a person sends, publishes and lists', async () => {
  const runId = await start('alone')
  await keepup?.close()
  const cli = (...args: string[]) => inProcess(['--data', folders.data, '--by', 'cy', ...args], {}, {})
  expect((await cli('messages', 'send', runId, 'look', 'here', '--topic', 'hint')).out).toMatch(
    /^sent \S+\.m\d+; recorded/,
  )
  expect((await cli('messages', 'send', runId, '--json', '{"a":1}', '--request')).code).toBe(0)
  expect((await cli('messages', 'publish', runId, 'news', 'sun')).code).toBe(0)
  const found = JSON.parse((await cli('-o', 'json', 'messages', 'list', runId)).out) as object[]
  expect(found).toMatchObject([
    { from: 'user:cy', to: runId, topic: 'hint', preview: '"look here"' },
    { type: 'request', preview: '{"a":1}' },
    { to: null, topic: 'news', preview: '"sun"' },
  ])
  expect((await cli('messages', 'send', runId, '--json', '{a')).err).toMatch(/the message is no JSON/)
  expect((await cli('messages', 'respond', `${runId}.m99`, 'x')).err).toMatch(/nothing waits for an answer/)
}, 60_000)
