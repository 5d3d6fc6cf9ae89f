// @module-tag git
import type { ServerResponse } from 'node:http'
import { expect, type TestContext, test, vi } from 'vitest'
import { newPlace } from '../support/faults/cli.ts'
import { factsOf, look } from '../support/faults/inspect.ts'
import { sandboxFlag } from '../support/faults/jobs.ts'
import { type Answer, calls, completes, heard, modelServer, says } from '../support/faults/model-server.ts'
import { FAULT_TIMEOUT_MS } from '../support/faults/seed.ts'
import { delta, writeChunks } from '../support/models/openai-wire.ts'
import { beginStream, sendJson } from '../support/network/loopback.ts'

vi.setConfig({ testTimeout: FAULT_TIMEOUT_MS, hookTimeout: FAULT_TIMEOUT_MS })

// A model that answers nonsense, or half: the model is told, or it is asked again; the run ends as documented.

async function runWith(context: TestContext, answers: [Answer, ...Answer[]], ...more: string[]) {
  const place = newPlace()
  const server = await modelServer(...answers)
  context.onTestFinished(async () => {
    vi.unstubAllEnvs()
    await server.close()
    place.remove()
  })
  const how = ['--model', 'openai:local', '-w', place.workspace, '--approve', 'write_file,run_command']
  for (const [name, value] of Object.entries(server.env)) vi.stubEnv(name, value)
  const ended = await look(place, 'run', ...how, ...sandboxFlag, ...more, 'Do it')
  const facts = await factsOf(place)
  expect(ended.err).not.toMatch(/should not have happened|^ +at /m)
  expect(await look(place, 'verify')).toMatchObject({ code: 0 })
  return { ended, facts, got: server.got, place, server }
}

const codes = (facts: Awaited<ReturnType<typeof factsOf>>) =>
  facts
    .filter((fact) => fact.type === 'tool_call_end')
    .map((fact) => (fact.body.error as { code: string } | undefined)?.code ?? 'ok')

test('unknown tools and arguments that are none are told to the model, which may mend them', async (context) => {
  const { ended, facts, got } = await runWith(context, [
    calls('launch_rocket', { to: 'the moon' }),
    calls('read_file', '{"path": '),
    calls('read_file', '[1,2]'),
    calls('read_file', { file: 'a.txt' }),
    completes(),
  ])
  expect(ended).toMatchObject({ code: 0, out: 'Done.\n' })
  const wrong = ['INVALID_ARGUMENTS', 'INVALID_ARGUMENTS', 'INVALID_ARGUMENTS']
  expect(codes(facts)).toEqual(['RESOURCE_NOT_FOUND', ...wrong, 'ok'])
  expect(heard(got[1]!)).toContain('there is no tool')
  expect(heard(got[2]!)).toContain('not a JSON object')
  expect(heard(got[4]!)).toContain('path: ')
})

test('five turns of nonsense end the run', async (context) => {
  const { ended, facts } = await runWith(context, [calls('launch_rocket', {})])
  expect(ended).toMatchObject({ code: 3, err: expect.stringContaining('TOO_MANY_VIOLATIONS') })
  expect(codes(facts)).toEqual(Array(5).fill('RESOURCE_NOT_FOUND'))
})

test('an answer without a call ends the run, and says which call was missed', async (context) => {
  const { ended } = await runWith(context, [says('I think I am done.')])
  expect(ended).toMatchObject({ code: 3, err: expect.stringMatching(/NO_COMPLETION.*complete_task/) })
})

const stream =
  (end: (res: ServerResponse) => void): Answer =>
  (res) => {
    beginStream(res)
    end(res)
  }
const half = (res: ServerResponse) => {
  writeChunks(res, [delta({ content: 'Half' })])
  res.destroy()
}

test.for<[string, Answer]>([
  ['an empty stream', stream((res) => void res.end('data: [DONE]\n\n'))],
  ['a stream of garbage', stream((res) => void res.end('data: {"choices": [{{{\n\n'))],
  ['a web page', (res) => void res.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>')],
  ['half a stream', stream(half)],
  ['no answer at all', (res) => void res.destroy()],
  ['an overloaded server', (res) => sendJson(res, 503, { error: { message: 'too many' } }, { 'retry-after': '0' })],
])('%s is asked again, and the run goes on', async ([, wrong], context) => {
  const { ended, facts, got } = await runWith(context, [wrong, completes()])
  expect(ended).toMatchObject({ code: 0, out: 'Done.\n' })
  const failures = facts.filter((fact) => fact.type === 'error')
  expect(failures.map((fact) => fact.body.recoverable)).toEqual([true])
  expect(got.length).toBe(2)
})

test('a key that the server refuses ends the run at once', async (context) => {
  const { ended, got, facts } = await runWith(context, [
    (res) => sendJson(res, 401, { error: { message: 'Incorrect API key provided: sk-test-0123456789abcdef' } }),
  ])
  expect(ended).toMatchObject({ code: 3, err: expect.stringContaining('MODEL_FAILED') })
  expect(got.length).toBe(1)
  expect(JSON.stringify(facts) + ended.err).not.toContain('sk-test-0123456789abcdef')
})
