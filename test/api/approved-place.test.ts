import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { bodyOf, eventsIn, openWorld } from './http-support.ts'

// What was approved is done where it was shown, or not at all (5.12.2).

let world: Awaited<ReturnType<typeof openWorld>>
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const previewOf = async (id: string) => {
  const shown = await bodyOf<{ preview: { text: string } }>(await world.ask('GET', `/v1/approvals/${id}.t1.c0`))
  return shown.preview.text
}

async function approved(id: string) {
  const body = { decision: 'approved' }
  expect((await world.ask('POST', `/v1/approvals/${id}.t1.c0`, { body })).status).toBe(200)
  world.services.drivers.start(id)
  await world.services.drivers.ended(id)
  const ends = (await eventsIn(world.services, id)).filter(({ header }) => header.type === 'tool_call_end')
  return JSON.parse(Buffer.from(ends[0]!.body!).toString()) as { success: boolean; error?: object }
}

it('a link that is put in the way after the approval was asked for: nothing is written, and it is told', async () => {
  const folder = world.workspace()
  writeFileSync(join(folder, 'safe.txt'), 'as it was')
  const id = await world.driven('write it', { workspace: folder })
  expect(await previewOf(id)).toMatch(/^Index: hello\.txt|^=+\n--- hello\.txt/)
  symlinkSync('safe.txt', join(folder, 'hello.txt'))
  expect(await previewOf(id)).toContain('hello.txt leads to safe.txt')
  expect(await approved(id)).toMatchObject({
    success: false,
    error: { code: 'CONFLICT', message: expect.stringMatching(/"hello\.txt".*link.*"safe\.txt"/) },
  })
  expect(readFileSync(join(folder, 'safe.txt'), 'utf8')).toBe('as it was')
})

it('one that leads out of the workspace by then: refused as a way out', async () => {
  const folder = world.workspace()
  const id = await world.driven('write it', { workspace: folder })
  symlinkSync('/tmp', join(folder, 'hello.txt'))
  expect(await approved(id)).toMatchObject({ success: false, error: { code: 'SANDBOX_VIOLATION' } })
})

it('one that was there before: shown with where it leads, and written there', async () => {
  const folder = world.workspace()
  mkdirSync(join(folder, 'real'))
  symlinkSync('real/target.txt', join(folder, 'hello.txt'))
  writeFileSync(join(folder, 'real/target.txt'), 'before')
  const id = await world.driven('write it', { workspace: folder })
  expect(await previewOf(id)).toMatch(/^hello\.txt leads to real\/target\.txt\n/)
  expect(await approved(id)).toMatchObject({ success: true })
  expect(readFileSync(join(folder, 'real/target.txt'), 'utf8')).toBe('hello\n')
})

it('a file that has come to stand there meanwhile is in the same place', async () => {
  const folder = world.workspace()
  const id = await world.driven('write it', { workspace: folder })
  writeFileSync(join(folder, 'hello.txt'), 'another')
  expect(await approved(id)).toMatchObject({ success: true })
  expect(readFileSync(join(folder, 'hello.txt'), 'utf8')).toBe('hello\n')
})
