import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openSqliteLog } from '../../adapters/log-sqlite/open.ts'
import { canonicalHeader } from '../../domain/log/canonical.ts'
import { StreamVerifier } from '../../domain/log/verify.ts'
import { BEFORE, Sealer } from '../support/sealing.ts'
import { bodyBytes, typicalRun } from '../support/typical-run.ts'

// The SQLite log beside a bare writer of the same bytes, rows and commits, in the same process and on the same disk.

const turns = Number(process.argv[2] ?? 1000)
const batches = [...typicalRun('0abcdefghjkmnpqrstvwxyz', turns)]
const bytes = bodyBytes(batches)
const folder = mkdtempSync(join(tmpdir(), 'keepup-bench-'))
const ms = (from: number) => performance.now() - from
const each = (total: number) => `${((total / batches.length) * 1000).toFixed(0)} us/append`

function bare(): number {
  const db = new DatabaseSync(join(folder, 'bare.db'))
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE events(position INTEGER PRIMARY KEY, stream TEXT, revision INTEGER, header TEXT, hash BLOB, body BLOB);
    CREATE UNIQUE INDEX by_stream ON events(stream, revision)`)
  const insert = db.prepare('INSERT INTO events(stream, revision, header, hash, body) VALUES (?, ?, ?, ?, ?)')
  const from = performance.now()
  for (const batch of batches) {
    db.exec('BEGIN IMMEDIATE')
    for (const { header, hash, body } of batch)
      insert.run(header.stream, header.revision, canonicalHeader(header), Buffer.from(hash, 'hex'), body)
    db.exec('COMMIT')
  }
  const took = ms(from)
  db.close()
  return took
}

async function ours(): Promise<number> {
  const log = await openSqliteLog({ folder: join(folder, 'log'), mode: 'owner', clock: BEFORE })
  const from = performance.now()
  for (const batch of batches) await log.append(batch[0]!.header.stream, batch[0]!.header.revision - 1, batch)
  const took = ms(from)
  await log.close()
  return took
}

async function reads(): Promise<void> {
  const log = await openSqliteLog({ folder: join(folder, 'log'), mode: 'reader' })
  const events = batches.flat().length
  const rate = (took: number) => `${((events / took) * 1000).toFixed(0)} events/s`
  for (const bodies of [true, false]) {
    const from = performance.now()
    let seen = 0
    for await (const page of log.readAll(null, { bodies })) seen += page.length
    console.log(`read ${seen} events ${bodies ? 'whole' : 'without bodies'}: ${rate(ms(from))}`)
  }
  const from = performance.now()
  const verifier = new StreamVerifier(batches[0]![0]!.header.stream)
  for await (const page of log.read(batches[0]![0]!.header.stream)) verifier.page(page)
  console.log(`verified: ${rate(ms(from))}, ${verifier.result().problems.length} problems`)
  await log.close()
}

async function concurrent(runs: number, each: number): Promise<void> {
  const log = await openSqliteLog({ folder: join(folder, 'many'), mode: 'owner', clock: BEFORE })
  const sealer = new Sealer('many')
  const all = Array.from({ length: runs }, (_, i) => typicalRun(`run${i}`, each, sealer))
  const from = performance.now()
  await Promise.all(
    all.map(async (run) => {
      for (const batch of run) await log.append(batch[0]!.header.stream, batch[0]!.header.revision - 1, batch)
    }),
  )
  console.log(`${runs} runs at once: ${((runs * each * 1000) / ms(from)).toFixed(0)} turns/s (sealing included)`)
  await log.close()
}

async function alone(write: () => number | Promise<number>): Promise<number> {
  const cpu = process.cpuUsage()
  const took = await write()
  const { user, system } = process.cpuUsage(cpu)
  console.log(`  cpu ${((user + system) / batches.flat().length).toFixed(1)} us/event`)
  return took
}

const size = (path: string) => statSync(path).size
let floor = Number.POSITIVE_INFINITY
let mine = Number.POSITIVE_INFINITY
for (let round = 0; round < 5; round++) {
  rmSync(folder, { recursive: true })
  mkdirSync(folder)
  floor = Math.min(floor, await alone(bare))
  mine = Math.min(mine, await alone(ours))
}
console.log(`bare writer ${each(floor)}, ours ${each(mine)}: ${(mine / floor).toFixed(2)} x`)
const file = size(join(folder, 'log', 'log.db'))
const files = readdirSync(join(folder, 'log')).reduce((sum, name) => sum + size(join(folder, 'log', name)), 0)
console.log(`bodies ${bytes}, log ${(file / bytes).toFixed(2)} x, all files ${(files / bytes).toFixed(2)} x`)
console.log(`bare file ${(size(join(folder, 'bare.db')) / bytes).toFixed(2)} x`)
await reads()
await concurrent(32, 50)
rmSync(folder, { recursive: true })
