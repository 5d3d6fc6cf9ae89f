import { hash } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import { canonicalText } from '../../../domain/log/canonical.ts'
import { SALT_BYTES, unsalted } from '../../../domain/log/seal.ts'
import { placesOf } from '../../support/faults/scan.ts'
import { bodyOf, eventsIn, openWorld } from '../support/http.ts'

/** All values in a JSON value, as canonical text, and its strings as they are. */
function* valuesIn(value: unknown): Generator<string> {
  yield canonicalText(value)
  if (typeof value === 'string') yield value
  else if (value !== null && typeof value === 'object') for (const one of Object.values(value)) yield* valuesIn(one)
}

/** The forms in which bytes can stand in files. */
const formsOf = (bytes: Buffer) => [bytes, bytes.toString('hex'), bytes.toString('base64').replace(/=+$/, '')]

it('keeps no salt and no bare hash of an erased run anywhere in the data folder', { tags: ['git'] }, async () => {
  const world = await openWorld({ maxBodyBytes: 100_000 })
  onTestFinished(() => world.close())
  const { ask, services } = world
  const knowledge = [{ kind: 'text', name: 'note', text: 'Ann lives at 4 Elm Street' }]
  const id = await world.driven('write to Ann', { workspace: world.workspace(), knowledge })
  expect((await world.answer(`${id}.t1.c0`, { decision: 'approved', reason: 'Ann agreed' })).status).toBe(200)
  await ask('POST', `/v1/runs/${id}/resume`, { body: {} })
  await services.drivers.ended(id)
  expect(await bodyOf(await ask('GET', `/v1/runs/${id}`))).toMatchObject({ run: { status: 'completed' } })

  const before = await eventsIn(services, id)
  const given = before.find(({ header }) => header.type === 'agent_started')!
  const { hashSalt } = JSON.parse(Buffer.from(unsalted(given.body!)).toString()) as { hashSalt: string }
  expect(placesOf(formsOf(Buffer.from(hashSalt, 'hex')), world.data)).not.toEqual([])
  const erased = await ask('POST', `/v1/runs/${id}/erase`, {
    body: { all: true, code: 'subject_request', reason: 'x' },
  })
  expect(erased.status).toBe(200)
  const after = await eventsIn(services, id)
  const gone = before.filter((_, revision) => after[revision]!.erased)
  expect(gone.map(({ header }) => header.type)).toEqual(
    expect.arrayContaining(['agent_started', 'user_input', 'knowledge_added', 'model_call_end', 'approval_decided']),
  )
  const left = after.map(({ body }) => Buffer.from(body ?? []).toString()).join('\n')
  await services.close()

  const salts = gone.map(({ body }) => Buffer.from(body!.subarray(0, SALT_BYTES)))
  salts.push(Buffer.from(hashSalt, 'hex'))
  expect(placesOf(salts.flatMap(formsOf), world.data)).toEqual([])
  // What remains in plain text needs no hash to be confirmed.
  const values = new Set(gone.flatMap(({ body }) => [...valuesIn(JSON.parse(Buffer.from(unsalted(body!)).toString()))]))
  const texts = [...values].filter((value) => value.length > 3 && !left.includes(value))
  expect(texts.length).toBeGreaterThan(20)
  const bare = (text: string) => placesOf(formsOf(Buffer.from(hash('sha256', text), 'hex')), world.data).length > 0
  const all = texts.flatMap((text) => formsOf(Buffer.from(hash('sha256', text), 'hex')))
  const places = placesOf(all, world.data)
  expect(places.length === 0 ? [] : texts.filter(bare)).toEqual([])
})
