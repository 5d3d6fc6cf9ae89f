import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
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
async function rowsIn(tables: Projections, how: 'read' | 'readApart' = 'read') {
  const read = await tables[how](async (db) =>
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

  it('closes and drops tables after the reads that have begun', async () => {
    const keepup = await open()
    await ran(keepup)
    const { log, blobs } = keepup.services
    const memory = await Projections.open({ home: new MemoryHome(), log, blobs })
    const begun = Promise.withResolvers<void>()
    const go = Promise.withResolvers<void>()
    const rows = memory.read(async (db) => {
      begun.resolve()
      await go.promise
      return db.selectFrom('runs').selectAll().execute()
    })
    await begun.promise
    const closed = memory.close()
    go.resolve()
    expect((await rows).data).toHaveLength(1)
    await closed
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
    // Node 24 does not have it.
    const serialize = vi.spyOn(DatabaseSync.prototype, 'serialize')
    onTestFinished(() => serialize.mockRestore())
    expect(await rowsIn(memory, 'readApart')).toEqual(expected)
    expect((await memory.readApart(async () => null)).position).toEqual((await memory.read(async () => null)).position)
    const words = sql<{ rowid: number }>`select rowid from memory_words where memory_words match 'port'`
    const found = await memory.readApart(async (db) => (await words.execute(db)).rows)
    expect(found.data).toHaveLength(1)
    expect(serialize).not.toHaveBeenCalled()
    expect(await memory.rebuild({ accept: true })).toMatchObject({ switched: true })
    expect(await rowsIn(memory)).toEqual(expected)
    await Promise.all([files.close(), memory.close()])
  })

  it('writes no file', async () => {
    const { NODE_COMPILE_CACHE: _, ...env } = process.env
    // Node refuses every write, process and thread here.
    const flags = ['--permission', '--allow-fs-read=*', '--disable-warning=SecurityWarning']
    expect(await inProcess('(await keepup.drive(runId)).end', env, flags)).toEqual(['done\n', ''])
  })

  it('reads nothing that another user has put into the folder of temporary files', async () => {
    const shared = tempFolder()
    const planted = join(shared, 'keepup-in-memory')
    mkdirSync(join(planted, 'roles'), { recursive: true })
    writeFileSync(join(planted, 'keepup.json'), JSON.stringify({ delegation: null, model: 'scripted:planted' }))
    writeFileSync(join(planted, 'roles', 'planted.json'), 'no role')
    const told = await inProcess(
      `JSON.stringify([
        (await keepup.listModels({})).models.some(({ id }) => id === 'scripted:planted'),
        JSON.stringify(await keepup.listRoles({})).includes('planted'),
        keepup.services.witness,
      ])`,
      { ...process.env, TMPDIR: shared },
    )
    expect(told).toEqual(['[false,false,null]\n', ''])
  })
})

/** The streams of a program that prints the expression `told` after it has started a run in memory. */
async function inProcess(told: string, env: NodeJS.ProcessEnv, flags: readonly string[] = []) {
  const program = join(tempFolder(), 'program.ts')
  const entry = join(import.meta.dirname, '../../../api/index.ts')
  writeFileSync(
    program,
    `import { openKeepUp } from ${JSON.stringify(entry)}
    const keepup = await openKeepUp({ home: 'memory', scripts: ${JSON.stringify(scripts)} })
    const { runId } = await keepup.start({ task: 'go', model: 'scripted:hello' })
    console.log(${told})
    await keepup.close()`,
  )
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [...flags, program], { env })
  return [stdout, stderr]
}
