import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { type KeepUp, openKeepUp } from '../../../api/index.ts'
import { tableNames } from '../../../projections/engine/schema/tables.ts'
import { MemoryHome, Projections } from '../../../projections/index.ts'
import { tempFolder } from '../../support/folders.ts'

// The library with everything in memory, for the tests of programs.

const remember = { calls: [{ tool: 'remember', arguments: { text: 'the port is 80' } }] }
const done = { calls: [{ tool: 'complete_task', arguments: { summary: 'done' } }] }
const scripts = { hello: { script: 1 as const, turns: [remember, done] } }
const opened: KeepUp[] = []
const open = async () => {
  const keepup = await openKeepUp({ home: 'memory', by: 'ada', scripts })
  opened.push(keepup)
  return keepup
}
afterAll(() => Promise.all(opened.map((keepup) => keepup.close())))

const ran = async (keepup: KeepUp) => {
  const { runId } = await keepup.start({ task: 'Say hello.', model: 'scripted:hello' })
  expect(await keepup.drive(runId)).toEqual({ end: 'done' })
  return runId
}

/** The rows of every table. */
async function rowsIn(tables: Projections) {
  const read = await tables.read(async (db) =>
    Promise.all(
      tableNames().map(async (name) => [
        name,
        await db
          .selectFrom(name as 'runs')
          .selectAll()
          .execute(),
      ]),
    ),
  )
  return Object.fromEntries(read.data as [string, object[]][])
}

describe('keepup in memory', () => {
  it('drives, forks, verifies and erases runs', async () => {
    const keepup = await open()
    const runId = await ran(keepup)
    const { runId: fork } = await keepup.fork(runId, { at: { turn: 1 } })
    expect(await keepup.drive(fork)).toEqual({ end: 'done' })
    expect(await keepup.verifyRun({ id: runId })).toMatchObject({ ok: true })
    await keepup.eraseRun({ id: runId, code: 'subject_request', reason: 'asked', all: true })
    const texts = (await Array.fromAsync(keepup.follow(runId))).map((event) => JSON.stringify(event))
    expect(texts.join()).not.toContain('Say hello.')
    expect((await keepup.run(runId))!.status).toBe('completed')
  })

  it('has consumers, memories, documents and stores with large values', async () => {
    const keepup = await open()
    const runId = await ran(keepup)
    const seen: string[] = []
    const asked = { name: 'ends', once: true, filter: { types: ['completion'] } }
    for (let time = 0; time < 2; time++)
      await keepup.consume(asked, (events) => void seen.push(...events.map((event) => event.runId!)))
    expect(seen).toEqual([runId])
    expect((await keepup.listMemories({ q: 'port' })).memories).toHaveLength(1)
    await keepup.contextStore('s').set('large', 'x'.repeat(100_000))
    expect(await keepup.contextStore('s').get('large')).toHaveLength(100_000)
    const { documentId } = await keepup.createDocument({ title: 'Plan', format: 'markdown', content: 'First.' })
    expect((await keepup.documents.read(documentId)).blocks).toHaveLength(1)
  })

  it('has two homes apart from each other', async () => {
    const [one, other] = [await open(), await open()]
    const runId = await ran(one)
    expect(await other.run(runId)).toBeNull()
  })

  it('refuses what needs a folder, with the remedy', async () => {
    const keepup = await open()
    const start = keepup.start({ task: 'x', model: 'scripted:hello', workspace: tempFolder() })
    await expect(start).rejects.toThrow('open a data folder')
    await expect(keepup.sql('select 1')).rejects.toMatchObject({ code: 'SQL_UNAVAILABLE' })
    await expect(openKeepUp({ home: 'memory', data: '/tmp/x' } as never)).rejects.toThrow('either data or home')
    await expect(openKeepUp({ home: 'disk' } as never)).rejects.toThrow('home: "disk" is unknown')
  })

  it('has the rows that tables in files have, also in an answer apart and after a rebuild', async () => {
    const keepup = await open()
    await ran(keepup)
    const { log, blobs } = keepup.services
    const files = await Projections.open({ folder: tempFolder(), log, blobs })
    const memory = await Projections.open({ home: new MemoryHome(), log, blobs })
    const expected = await rowsIn(files)
    expect(expected.runs).toHaveLength(1)
    expect(await rowsIn(memory)).toEqual(expected)
    const apart = await memory.readApart((db) => db.selectFrom('runs').selectAll().execute())
    expect(apart.data).toEqual(expected.runs)
    expect(await memory.rebuild({ accept: true })).toMatchObject({ switched: true })
    expect(await rowsIn(memory)).toEqual(expected)
    await Promise.all([files.close(), memory.close()])
  })

  // Node refuses every write, process and thread here.
  it('writes no file', async () => {
    const program = join(tempFolder(), 'program.ts')
    const entry = join(import.meta.dirname, '../../../api/index.ts')
    writeFileSync(
      program,
      `import { openKeepUp } from ${JSON.stringify(entry)}
      const keepup = await openKeepUp({ home: 'memory', scripts: ${JSON.stringify(scripts)} })
      const { runId } = await keepup.start({ task: 'go', model: 'scripted:hello' })
      console.log((await keepup.drive(runId)).end)
      await keepup.close()`,
    )
    const flags = ['--permission', '--allow-fs-read=*', '--disable-warning=SecurityWarning']
    const { NODE_COMPILE_CACHE: _, ...env } = process.env
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [...flags, program], { env })
    expect([stdout, stderr]).toEqual(['done\n', ''])
  })
})
