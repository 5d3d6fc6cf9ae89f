// @module-tag git
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { workspaceFiles } from '../../../adapters/workspace/files.ts'
import type { Preview } from '../../../api/operations/approvals/preview.ts'
import { type SeenFile, storedFile } from '../../../domain/calls/question-hash.ts'
import { changedSinceApproval } from '../../../domain/calls/runtime/approved-files.ts'
import { unsalted } from '../../../domain/log/seal.ts'
import { bodyOf, eventsIn, openWorld } from '../support/http.ts'

// What was approved is done where it was shown, or not at all (5.12.2).

let world: Awaited<ReturnType<typeof openWorld>>
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const previewOf = async (id: string) => {
  const shown = await bodyOf<{ preview: Preview }>(await world.ask('GET', `/v1/approvals/${id}.t1.c0`))
  return shown.preview
}

async function approved(id: string) {
  expect((await world.answer(`${id}.t1.c0`, { decision: 'approved' })).status).toBe(200)
  world.services.drivers.start(id)
  await world.services.drivers.ended(id)
  const ends = (await eventsIn(world.services, id)).filter(({ header }) => header.type === 'tool_call_end')
  return JSON.parse(Buffer.from(unsalted(ends[0]!.body!)).toString()) as { success: boolean; error?: object }
}

it('a link that is put in the way after the approval was asked for: nothing is written, and it is told', async () => {
  const folder = world.workspace()
  writeFileSync(join(folder, 'safe.txt'), 'as it was')
  const id = await world.driven('write it', { workspace: folder })
  expect((await previewOf(id)).text).toMatch(/^--- hello\.txt/)
  symlinkSync('safe.txt', join(folder, 'hello.txt'))
  expect((await previewOf(id)).notes).toEqual(['"hello.txt" leads to "safe.txt".'])
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
  expect((await previewOf(id)).notes).toEqual(['"hello.txt" leads to "real/target.txt".'])
  expect(await approved(id)).toMatchObject({ success: true })
  expect(readFileSync(join(folder, 'real/target.txt'), 'utf8')).toBe('hello\n')
})

/** The hash of the question as a person is shown it now. */
const hashOf = async (id: string) =>
  (await bodyOf<{ questionHash: string }>(await world.ask('GET', `/v1/approvals/${id}.t1.c0`))).questionHash

it('a file that has come to stand there since the preview: the answer is refused, and one for the new preview counts', async () => {
  const folder = world.workspace()
  const id = await world.driven('write it', { workspace: folder })
  const questionHash = await hashOf(id)
  writeFileSync(join(folder, 'hello.txt'), 'another')
  const stale = await world.answer(`${id}.t1.c0`, { decision: 'approved', questionHash })
  expect([stale.status, (await bodyOf(stale)).code]).toEqual([409, 'QUESTION_CHANGED'])
  expect((await previewOf(id)).text).toContain('-another')
  expect(await approved(id)).toMatchObject({ success: true })
  expect(readFileSync(join(folder, 'hello.txt'), 'utf8')).toBe('hello\n')
})

it('a file that changes after the approval is not replaced: the call asks again', async () => {
  const folder = world.workspace()
  writeFileSync(join(folder, 'hello.txt'), 'as it was')
  const id = await world.driven('write it', { workspace: folder })
  expect((await world.answer(`${id}.t1.c0`, { decision: 'approved' })).status).toBe(200)
  writeFileSync(join(folder, 'hello.txt'), 'mine, not saved elsewhere')
  world.services.drivers.start(id)
  await world.services.drivers.ended(id)
  expect(world.services.drivers.state(id).end).toMatchObject({ end: 'waiting', for: 'approval' })
  expect(readFileSync(join(folder, 'hello.txt'), 'utf8')).toBe('mine, not saved elsewhere')
  const asked = await bodyOf<{ approval: { reason: string } }>(await world.ask('GET', `/v1/approvals/${id}.t1.c0`))
  expect(asked.approval.reason).toContain('"hello.txt" was changed after the approval')
  expect(await approved(id)).toMatchObject({ success: true })
})

it('a binary file is no obstacle to a preview', async () => {
  const folder = world.workspace()
  writeFileSync(join(folder, 'hello.txt'), Buffer.from([0xff, 0xfe, 0, 1]))
  const id = await world.driven('write it', { workspace: folder })
  const { notes, files } = await previewOf(id)
  expect(notes).toEqual([expect.stringMatching(/^The file is binary now \(4 bytes, SHA-256 [0-9a-f]{64}\)/)])
  expect(files).toEqual([{ path: 'hello.txt', content: expect.stringMatching(/^[0-9a-f]{64}$/) }])
})

it('the files of a command are its links, also those that lead nowhere or out, and missing files', async () => {
  const folder = world.workspace()
  const id = await world.driven('write it', { workspace: folder })
  writeFileSync(join(folder, 'b2.sh'), 'echo good')
  symlinkSync('b2.sh', join(folder, 'build.sh'))
  symlinkSync('nowhere', join(folder, 'gen'))
  symlinkSync('/etc/hostname', join(folder, 'host'))
  mkdirSync(join(folder, 'sub'))
  const names = [
    'sh',
    'build.sh',
    `${folder}/b2.sh`,
    'gen',
    'host',
    'new.sh',
    './run',
    'sub/',
    'https://a.example/x.sh',
  ]
  const { files } = await world.services.files.named(id, '', [...names, 'fix it. now', '/usr/bin/env', '../x.sh'])
  const content = expect.stringMatching(/^[0-9a-f]{64}$/)
  expect(files).toEqual([
    { path: 'build.sh', content, leadsTo: 'b2.sh' },
    { path: 'b2.sh', content },
    { path: 'gen', content: 'unreadable', leadsTo: null },
    { path: 'host', content: 'unreadable', leadsTo: null },
    { path: 'new.sh', content: 'absent' },
    { path: 'run', content: 'absent' },
  ])
  const workspace = workspaceFiles(folder) as never
  const changed = ({ path, content }: SeenFile) =>
    changedSinceApproval(workspace, { approvedFiles: [storedFile('', { path, content })] } as never, '')
  expect(await Promise.all(files.map(changed))).toEqual(files.map(() => null))
  for (const name of ['build.sh', 'gen', 'host']) rmSync(join(folder, name))
  for (const name of ['build.sh', 'gen', 'host', 'new.sh']) writeFileSync(join(folder, name), 'echo evil')
  expect(await Promise.all(files.map(changed))).toEqual([
    '"build.sh" was changed after the approval',
    null,
    '"gen" was changed after the approval',
    '"host" was changed after the approval',
    '"new.sh" was created after the approval',
    null,
  ])
})
