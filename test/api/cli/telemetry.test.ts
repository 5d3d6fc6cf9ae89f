// @module-tag git
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { collector, spansOf } from '../../support/telemetry/collector.ts'
import { cliFolder, idIn } from '../support/cli.ts'

const folder = cliFolder()
afterAll(() => folder.clean())
const { look, root } = folder

const ended = async (task: string) =>
  idIn((await look('run', task, '-w', folder.workspace(), '--tools', 'list_dir')).err)

test('telemetry writes the spans of runs into a new file, one request a line', async () => {
  const [first, second] = [await ended('finish one'), await ended('finish two')]
  const file = join(root, 'spans.jsonl')
  const done = await look('telemetry', first, second, '--to', file)
  expect(done).toMatchObject({ code: 0, out: expect.stringMatching(/spans\.jsonl: \d+ spans/) })
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  expect(lines).toHaveLength(2)
  expect(lines.map((line) => new Set(spansOf(line).map(({ traceId }) => traceId)).size)).toEqual([1, 1])
  expect(readFileSync(file, 'utf8')).not.toContain('finish one')
  expect((await look('telemetry', first, '--to', file)).code).toBe(1)
})

test('telemetry sends the spans to a collector with headers, and content where it is asked for', async () => {
  const run = await ended('finish three')
  const { url, got, spans } = await collector()
  expect(await look('telemetry', run, '--to', url, '--content', '--header', 'authorization=Bearer a=b')).toMatchObject({
    code: 0,
    out: expect.stringContaining(`${spans().length} spans`),
  })
  expect(got.map(({ path }) => path)).toEqual(['/v1/traces'])
  expect(got[0]!.headers).toMatchObject({ authorization: 'Bearer a=b', 'content-type': 'application/json' })
  expect(spans().map(({ name }) => name)).toContain('invoke_agent keepup')
  expect(got[0]!.body).toContain('finish three')
  const other = await collector()
  await look('telemetry', run, '--to', `${other.url}/api/public/otel/v1/traces`)
  expect(other.got.map(({ path }) => path)).toEqual(['/api/public/otel/v1/traces'])
  expect(other.spans().map(({ spanId }) => spanId)).toEqual(spans().map(({ spanId }) => spanId))
})

test('telemetry names the fault of a collector, without the path of its URL', async () => {
  const run = await ended('finish four')
  const { url, answer } = await collector((response) => void response.writeHead(403).end())
  const send = () => look('telemetry', run, '--to', `${url}/secret-path`)
  const refused = await send()
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining(`${url}: it answers 403`) })
  expect(refused.err).not.toContain('secret-path')
  answer.with = (response) => void response.writeHead(302, { location: 'http://169.254.169.254/' }).end()
  expect((await send()).err).toContain('redirects are not followed')
})

test('telemetry names what a collector rejects, and goes on', async () => {
  const [first, second] = [await ended('finish six'), await ended('finish seven')]
  const part = { partialSuccess: { rejectedSpans: '2', errorMessage: 'too old' } }
  const { url, got } = await collector((response) => void response.writeHead(200).end(JSON.stringify(part)))
  const done = await look('telemetry', first, second, '--to', url)
  expect(done).toMatchObject({ code: 0, err: expect.stringContaining('it rejects 2 spans: too old') })
  expect(got).toHaveLength(2)
})

test('telemetry sends over http to this machine only, and takes no malformed header', async () => {
  const run = await ended('finish five')
  for (const to of ['http://10.0.0.1:4318', 'http://169.254.169.254/v1/traces', 'https://user:secret@example.org'])
    expect(await look('telemetry', run, '--to', to)).toMatchObject({ code: 2, err: expect.stringContaining('--to') })
  const { url, got } = await collector()
  expect((await look('telemetry', run, '--to', url, '--header', 'no value')).err).toContain('write name=value')
  expect(got).toEqual([])
})

test('doctor names the collector of the settings, its failure and its last success', async () => {
  const data = join(root, 'sending')
  mkdirSync(data, { mode: 0o700 })
  const { url, answer } = await collector((response) => void response.writeHead(503).end())
  writeFileSync(join(data, 'keepup.json'), JSON.stringify({ telemetry: { url } }))
  const checked = async () => {
    const { out } = await look('--data', data, 'doctor', '-o', 'json')
    return (JSON.parse(out) as { check: string }[]).find(({ check }) => check === 'telemetry')
  }
  await look('--data', data, 'run', 'finish eight', '--no-workspace')
  const [found, todo] = [`${url}: no spans sent yet, `, 'make the collector of "telemetry"'].map((text) =>
    expect.stringContaining(text),
  )
  await expect.poll(checked).toMatchObject({ state: 'warning', found, todo })
  await expect.poll(checked).toMatchObject({ found: expect.stringContaining('; it answers 503') })
  answer.with = (response) => void response.writeHead(200).end('{}')
  await look('--data', data, 'run', 'finish nine', '--no-workspace')
  await expect
    .poll(checked)
    .toMatchObject({ state: 'ok', found: expect.stringMatching(/: last spans 2.*, \d+ events/) })
  expect((await look('doctor', '-o', 'json')).out).not.toContain('"telemetry"')
})

test('consumers remove removes the consumer of telemetry once its setting is gone', async () => {
  const data = join(root, 'sent')
  mkdirSync(data, { mode: 0o700 })
  const { url } = await collector()
  const file = join(data, 'keepup.json')
  writeFileSync(file, JSON.stringify({ telemetry: { url } }))
  await look('--data', data, 'run', 'finish ten', '--no-workspace')
  const remove = () => look('--data', data, 'consumers', 'remove', 'keepup.telemetry')
  expect(await remove()).toMatchObject({ code: 2, err: expect.stringContaining('remove the setting') })
  writeFileSync(file, '{}')
  expect(await remove()).toMatchObject({ code: 0 })
  expect((await look('--data', data, 'consumers', '-o', 'json')).out).not.toContain('keepup.telemetry')
})
