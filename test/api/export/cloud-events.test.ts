import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { CloudEvent } from '../../../api/operations/export/cloud-event.ts'
import { runExport } from '../../../api/operations/export/export-thread.ts'
import { localSource } from '../../../api/operations/export/local-source.ts'
import { PROOF_STREAM } from '../../../domain/proof/kind.ts'
import { exportedEvents, filesIn } from '../../support/exports/read-back.ts'
import { tempFolder } from '../../support/folders.ts'
import { cursorOf, eventsIn, openWorld } from '../support/http.ts'

// CloudEvents in the stream of events and in files.

const world = await openWorld()
const { ask, services } = world
afterAll(() => world.close())
let run = ''
beforeAll(async () => {
  run = await world.driven('finish it', {})
  await vi.waitFor(async () => expect(await services.log.head(PROOF_STREAM)).not.toBeNull(), { timeout: 30_000 })
})

const PATH = '/v1/events?follow=false&format=cloudevents'
const stream = async (path: string, accept: string) => (await ask('GET', path, { headers: { accept } })).text()
const ofLines = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as CloudEvent)

test('the stream gives each event as a CloudEvent, as NDJSON and as SSE with the cursor as id', async () => {
  const events = await eventsIn(services)
  const lines = ofLines(await stream(PATH, 'application/x-ndjson'))
  expect(lines.map(({ id }) => id)).toEqual(events.map(({ id }) => id))
  expect(lines.every(({ specversion }) => specversion === '1.0')).toBe(true)
  const messages = (await stream(PATH, 'text/event-stream')).split('\n\n').filter((one) => one.includes('\ndata: '))
  const found = messages.map((one) => /^id: (.*)\nevent: (.*)\ndata: (.*)$/.exec(one)!)
  expect(found.map(([, id]) => id)).toEqual(events.map((event) => cursorOf(services, event)))
  expect(found.map(([, , , data]) => JSON.parse(data!) as CloudEvent)).toEqual(lines)
  expect(ofLines(await stream(`${PATH}&run=${run}&type=completion`, 'application/x-ndjson'))).toMatchObject([
    {
      type: 'dev.keepup.completion.v1',
      kurun: run,
      partitionkey: `agent-${run}`,
      data: { summary: expect.any(String) },
    },
  ])
  expect((await ask('GET', '/v1/events?format=xml')).status).toBe(400)
})

test('the trace of a request stands in the events that it caused', async () => {
  const traceparent = '00-0123456789abcdef0123456789abcdef-0123456789abcdef-01'
  const body = { task: 'finish with a trace', model: world.model }
  const started = await ask('POST', '/v1/runs', { body, headers: { traceparent } })
  const { runId } = (await started.json()) as { runId: string }
  await services.drivers.ended(runId)
  const [first] = ofLines(await stream(`${PATH}&run=${runId}`, 'application/x-ndjson'))
  expect(first).toMatchObject({ traceparent })
})

test('files have the events of the stream', async () => {
  const folder = tempFolder()
  const work = { folder, format: 'cloudevents', events: { since: null }, tables: false } as const
  await runExport(work, localSource(services))
  expect(await exportedEvents(folder)).toEqual(ofLines(await stream(PATH, 'application/x-ndjson')))
  expect(filesIn(folder).every((file) => file.endsWith('.ndjson'))).toBe(true)
  expect(readFileSync(join(folder, '_manifest.ndjson'), 'utf8')).toContain('"format":"cloudevents"')
  const tables = runExport({ ...work, folder: tempFolder(), events: null, tables: true }, localSource(services))
  await expect(tables).rejects.toMatchObject({ code: 'EXPORT_FORMAT' })
})
