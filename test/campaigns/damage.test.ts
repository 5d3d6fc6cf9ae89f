import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { readMark } from '../../adapters/sqlite/log/mark.ts'
import { openSqliteLog } from '../../adapters/sqlite/log/open.ts'
import { liveFile } from '../../projections/engine/store/pointer.ts'
import { keepup, newPlace, runIdIn } from '../support/faults/cli.ts'
import { look } from '../support/faults/inspect.ts'
import { effectsIn, effectsJob } from '../support/faults/jobs.ts'
import { draws } from '../support/faults/seed.ts'

// A run with irreversible calls is killed at several places; its stored files are damaged, a hundred times; and it goes on.
// Every loss is told before anything runs, and no irreversible effect happens twice.

const SEED = Number(process.env.FAULT_SEED ?? Math.floor(Math.random() * 2 ** 31))
const ROUNDS = Number(process.env.ROUNDS ?? 100)
const draw = draws(SEED)

const place = newPlace()
const at = (name: string, ...path: string[]) => join(place.root, 'kept', name, ...path)
const stages: { name: string; hashes: Map<number, string> }[] = []
let run = ''
afterAll(() => {
  vi.unstubAllEnvs()
  place.remove()
})

const logFile = () => join(place.data, 'log', 'log.db')
const restore = (stage: string) => {
  for (const [name, folder] of [
    ['data', place.data],
    ['ws', place.workspace],
  ] as const) {
    rmSync(folder, { recursive: true, force: true })
    cpSync(at(stage, name), folder, { recursive: true })
  }
}

async function keep(name: string): Promise<void> {
  cpSync(place.data, at(name, 'data'), { recursive: true })
  cpSync(place.workspace, at(name, 'ws'), { recursive: true })
  stages.push({ name, hashes: (await hashes())! })
}

/** Positions and hashes of the log's events; null: it cannot be read. */
async function hashes(): Promise<Map<number, string> | null> {
  const found = new Map<number, string>()
  try {
    const log = await openSqliteLog({ folder: join(place.data, 'log'), mode: 'reader' })
    try {
      for await (const page of log.readAll(null, { bodies: false }))
        for (const { position, hash } of page) found.set(position, hash)
    } finally {
      await log.close()
    }
    return found
  } catch {
    return null
  }
}

beforeAll(async () => {
  effectsJob.prepare(place)
  // The processes that are killed and this one, which looks at what they leave, use one key.
  vi.stubEnv('XDG_CONFIG_HOME', join(place.root, '.config'))
  const kills = ['before_tool:1', 'before_tool:1', 'after_tool:1', 'after_append:3', 'before_tool:1']
  for (const [n, kill] of kills.entries()) {
    const args = run === '' ? effectsJob.command(place) : ['resume', run]
    const ended = await keepup(place, args, { env: { KEEPUP_CRASH_AT: kill } })
    run ||= runIdIn(ended)
    await keep(`${n}-killed`)
    // Calls that ran at the kill are decided, so that the next process can go on.
    await settle()
    await keep(`${n}-settled`)
  }
})

/** Says of each call in doubt what became of it, and approves what waits. */
async function settle(): Promise<boolean> {
  const { out } = await look(place, '-o', 'json', 'runs', 'show', run)
  const { asks } = JSON.parse(out || '{"asks":[]}') as { asks: { for: string; toolCallId: string }[] }
  for (const ask of asks) {
    if (ask.for === 'approval') await look(place, 'approve', ask.toolCallId)
    if (ask.for !== 'doubt') continue
    const result = effectsJob.became(place, ask.toolCallId)
    await look(place, 'resolve', ask.toolCallId, ...(result === null ? ['run'] : ['happened', '--result', result]))
  }
  return asks.length > 0
}

function flip(path: string): string {
  const bytes = readFileSync(path)
  if (bytes.length === 0) return `nothing in ${path}`
  const bit = draw(bytes.length * 8)
  bytes[bit >> 3]! ^= 1 << (bit & 7)
  writeFileSync(path, bytes)
  return `bit ${bit} of ${path.slice(place.data.length + 1)}`
}

function drop(count: number): string {
  const db = new DatabaseSync(logFile())
  for (const { name } of db.prepare("select name from sqlite_schema where type = 'trigger'").all())
    db.exec(`drop trigger ${name}`)
  const last = Number(db.prepare('select max(position) as last from events').get()!.last)
  const from = Math.max(2, last - count + 1)
  db.exec(`delete from bodies where position >= ${from}; delete from events where position >= ${from}`)
  db.close()
  return `events from ${from} to ${last} removed`
}

const fileIn = (folder: string) => {
  const files = existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : []
  const paths = files.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name))
  return paths.length === 0 ? null : paths[draw(paths.length)]!
}

/** Puts a part of an earlier state in the place of this one's. */
function old(part: 'log' | 'tables' | 'mark' | 'log and mark' | 'log and tables', stage: number): string {
  const earlier = stages[draw(stage)]?.name
  if (earlier === undefined) return 'nothing'
  const swap = (name: string) => {
    rmSync(join(place.data, name), { recursive: true, force: true })
    if (existsSync(at(earlier, 'data', name)))
      cpSync(at(earlier, 'data', name), join(place.data, name), { recursive: true })
  }
  if (part === 'mark') swap('log/log.mark')
  else if (part !== 'tables') for (const end of ['', '-wal', '-shm']) swap(`log/log.db${end}`)
  if (part === 'log and mark') swap('log/log.mark')
  if (part.endsWith('tables')) swap('tables')
  return `${part} of ${earlier}`
}

const wal = () => `${logFile()}-wal`
const hasWal = () => (statSync(wal(), { throwIfNoEntry: false })?.size ?? 0) > 0
const DAMAGES: Readonly<Record<string, (stage: number) => string>> = {
  'wal cut': () => {
    if (!hasWal()) return drop(1 + draw(12))
    const size = draw(statSync(wal()).size)
    truncateSync(wal(), size)
    return `WAL cut to ${size} bytes`
  },
  'wal flipped': () => (hasWal() ? flip(wal()) : drop(1 + draw(12))),
  'log flipped': () => flip(logFile()),
  'events removed': () => drop(1 + draw(20)),
  'events and tables removed': () => {
    rmSync(join(place.data, 'tables'), { recursive: true, force: true })
    return `${drop(1 + draw(20))}, no tables`
  },
  'events and mark removed': () => {
    rmSync(join(place.data, 'log', 'log.mark'))
    return `${drop(1 + draw(20))}, no mark`
  },
  'old log': (stage) => old('log', stage),
  'old log and mark': (stage) => old('log and mark', stage),
  'old log and tables': (stage) => old('log and tables', stage),
  'old tables': (stage) => old('tables', stage),
  'old mark': (stage) => old('mark', stage),
  'mark flipped': () => flip(join(place.data, 'log', 'log.mark')),
  'blob flipped': () => {
    const file = fileIn(join(place.data, 'blobs'))
    return file === null ? 'no blob' : flip(file)
  },
  'tables flipped': () => {
    const file = liveFile(join(place.data, 'tables'))
    return file === null || !existsSync(file) ? 'no tables' : flip(file)
  },
  'tables emptied': () => {
    const file = liveFile(join(place.data, 'tables'))
    if (file !== null && existsSync(file)) truncateSync(file, 0)
    return 'tables emptied'
  },
  'snapshots flipped': () => flip(join(place.data, 'snapshots.db')),
}

/** How far the witnesses that are left have seen the log. */
function witnessed(): number {
  const mark = readMark(join(place.data, 'log'))
  const seen = mark.state === 'read' ? mark.position : 0
  try {
    const file = liveFile(join(place.data, 'tables'))
    if (file === null || statSync(file).size === 0) return seen
    const db = new DatabaseSync(file, { readOnly: true })
    try {
      return Math.max(seen, Number(db.prepare('select position from position where id = 1').get()?.position ?? 0))
    } finally {
      db.close()
    }
  } catch {
    return seen
  }
}

const lines = () => effectsIn(place).split('\n').filter(Boolean)
const once = () => expect(new Set(lines()).size, `effects: ${lines().join(' ')}`).toBe(lines().length)
const NAMED = /\((?:LOG_|BLOB_|TABLES_|FOLD_|UNKNOWN_|MODEL_|CURSOR_|RUN_|TOKEN_|NOT_)\w+\)|"code"|no run begins with/

test(`${ROUNDS} rounds of damage, FAULT_SEED=${SEED}`, async () => {
  const figures = { rounds: 0, lost: 0, reported: 0, unreadable: 0, completed: 0, stopped: 0 }
  const kinds = Object.keys(DAMAGES)
  for (let round = 0; round < ROUNDS; round++) {
    const stage = draw(stages.length)
    const { name, hashes: before } = stages[stage]!
    restore(name)
    // Half of the rounds: as a process leaves it that was not killed, with tables that have seen all.
    if (draw(2) === 1) await look(place, 'runs', 'list')
    const kind = kinds[round % kinds.length]!
    const what = DAMAGES[kind]!(stage)
    const seen = witnessed()
    const now = await hashes()
    const told = `round ${round}, ${name}, ${kind}: ${what}`
    const effects = lines().length
    const lost =
      now === null ? null : [...before].some(([position, hash]) => position <= seen && now.get(position) !== hash)
    figures.rounds++
    if (now === null) figures.unreadable++
    if (lost) figures.lost++
    const first = await look(place, 'resume', run)
    expect(first.err, told).not.toContain('this should not have happened')
    if (lost) {
      expect({ told, code: first.code, err: first.err }).toMatchObject({ code: expect.not.stringMatching(/^0$/) })
      expect([1, 2], `${told}: ${first.err}`).toContain(first.code)
      expect(first.err, told).toMatch(NAMED)
      expect(lines().length, told).toBe(effects)
      expect(await look(place, 'verify'), told).toMatchObject({ code: expect.any(Number) })
      expect((await look(place, 'verify')).code, told).not.toBe(0)
      figures.reported++
    }
    const accepted = await look(place, 'repair', '--accept-loss', '--yes')
    expect(accepted.err, told).not.toContain('this should not have happened')
    let done = false
    let why = ''
    for (let tries = 0; tries < 12 && !done; tries++) {
      await settle().catch(() => false)
      const { code, err } = await look(place, 'resume', run)
      expect(err, told).not.toContain('this should not have happened')
      expect(() => once(), told).not.toThrow()
      done = code === 0 || err.includes('RUN_FINISHED')
      why = `${code} ${err.trim().split('\n').at(-1)}`
      if (code !== 0 && code !== 8) break
    }
    once()
    if (done) figures.completed++
    else {
      figures.stopped++
      console.log(`${told}: stopped: ${why}`)
    }
  }
  console.log(JSON.stringify({ seed: SEED, ...figures }))
  expect(figures.reported).toBe(figures.lost)
  expect(figures.lost).toBeGreaterThan(ROUNDS / 5)
})
