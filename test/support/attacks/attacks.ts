import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { idOf } from '../../../domain/log/owner.ts'
import { liveFile } from '../../../projections/engine/store/pointer.ts'
import { Forger, jsonOf, reworded } from './forger.ts'
import type { Found } from './verification.ts'

/** A data folder before the attack. */
export interface Attacked {
  readonly events: readonly RecordedEvent[]
  /** The events that the last anchored head covers. */
  readonly anchored: number
  readonly heads: readonly number[]
}

export interface Forgery {
  readonly what: string
  /** Only a comparison with an anchor can name it. */
  readonly needsAnchor?: boolean
  /** Compare the rows of the tables too. */
  readonly rows?: boolean
  /** The streams to verify. */
  readonly streams: readonly string[]
  /** Whether a problem names this forgery. */
  readonly names: (found: Found) => boolean
}

type Draw = (below: number) => number
type Attack = (data: string, before: Attacked, draw: Draw) => Forgery | null

/** A problem of a stream at one of these revisions. An error names the event in its text. */
const at =
  (stream: string, ...revisions: number[]) =>
  (found: Found) =>
    found.where === 'stream' &&
    found.stream === stream &&
    revisions.some((one) => one === found.revision || found.message.includes(`${stream}@${one} `))
const byHead = (found: Found) => found.where === 'heads' && found.code !== 'KEY'
const byHeadOrKey = (found: Found) => found.where === 'heads'
const byAnchor = (found: Found) => found.where === 'heads' && found.code !== 'HEAD'

function forging<T>(data: string, forge: (forger: Forger) => T): T {
  const forger = new Forger(data)
  try {
    return forge(forger)
  } finally {
    forger.close()
  }
}

/** Any event but the identity of the log, without which nothing opens. */
const any = ({ events }: Attacked, draw: Draw, below = events.length) => events[1 + draw(below - 1)]!
const where = ({ header, position }: RecordedEvent) => `${header.stream}@${header.revision} (${position})`
const lastOf = ({ events }: Attacked, stream: string) =>
  events.findLast(({ header }) => header.stream === stream)!.header.revision
const isHeld = ({ body, header }: RecordedEvent) => body !== null && header.body.place === 'inline'

/** An event with a text that can be changed, among the first `below`. */
function wordy({ events }: Attacked, draw: Draw, below: number) {
  const all = events.slice(1, below).filter((event) => isHeld(event) && event.header.type !== 'anchor_made')
  for (let tries = 0; tries < 50; tries += 1) {
    const event = all[draw(all.length)]!
    const body = reworded(jsonOf(event), draw)
    if (body !== null) return { event, body }
  }
  return null
}

/** Other values in the columns of an event, with which it still has the form of one. */
const EDITS: Readonly<Record<string, string>> = {
  turn: 'turn = turn + 1',
  time: 'at = at + 1',
  size: 'size = size + 1',
  command: "command = command || 'x'",
  cause: "causation = 'agent-x@1'",
  trace: "trace = '00-11111111111111111111111111111111-2222222222222222-01'",
  wake: 'wake = 7',
}

/** Half of the edits are of bodies. */
const BODIES = Array.from({ length: 10 }, () => 'body')

const edit: Attack = (data, before, draw) => {
  const event = any(before, draw)
  const { stream, revision } = event.header
  const ways = [...Object.keys(EDITS), 'proof', 'proof', 'kind', 'origin', ...(isHeld(event) ? BODIES : [])]
  const what = ways[draw(ways.length)]!
  const flipped = (bytes: Uint8Array) => bytes.with(draw(bytes.length), draw(256))
  const isChanged = forging(data, ({ log }) => {
    const row = log.prepare('SELECT proof, kind, origin FROM events WHERE position = ?').get(event.position)!
    const set = (column: string, value: Uint8Array | number) => {
      log.prepare(`UPDATE events SET ${column} = ? WHERE position = ?`).run(value, event.position)
      return !Buffer.from(`${value}`).equals(Buffer.from(`${row[column]}`))
    }
    if (what === 'body') {
      const bytes = flipped(event.body!)
      log.prepare('UPDATE bodies SET packed = 0, bytes = ? WHERE position = ?').run(bytes, event.position)
      return !Buffer.from(bytes).equals(event.body!)
    }
    if (what === 'proof') return set('proof', flipped(row.proof as Uint8Array))
    if (what === 'kind' || what === 'origin') {
      const ids = log.prepare(`SELECT id FROM ${what}s`).all()
      return set(what, Number(ids[draw(ids.length)]!.id))
    }
    log.exec(`UPDATE events SET ${EDITS[what]} WHERE position = ${event.position}`)
    return true
  })
  if (!isChanged) return null
  const named = at(stream, revision, revision + 1)
  // An event with the origin of another stream is read as one of that stream.
  return { what: `${what} of ${where(event)}`, streams: [stream], names: named }
}

const swap: Attack = (data, before, draw) => {
  const [a, b] = [any(before, draw), any(before, draw)]
  if (a === b) return null
  const isOne = a.header.stream === b.header.stream
  const places = (y: RecordedEvent) => {
    const columns = isOne ? ['position', 'revision'] : ['position']
    return columns.map((name) => `${name} = ${name === 'position' ? y.position : y.header.revision}`).join()
  }
  forging(data, ({ log }) => {
    for (const table of ['events', 'bodies', 'erasures'])
      log.exec(`UPDATE ${table} SET position = -position WHERE position IN (${a.position}, ${b.position})`)
    log.exec(`UPDATE events SET revision = -1 WHERE position = -${a.position} AND ${isOne}`)
    log.exec(`UPDATE events SET ${places(a)} WHERE position = -${b.position}`)
    log.exec(`UPDATE events SET ${places(b)} WHERE position = -${a.position}`)
    for (const table of ['bodies', 'erasures'])
      log.exec(`UPDATE ${table} SET position = CASE position WHEN -${a.position} THEN ${b.position} ELSE ${a.position} END
        WHERE position < 0`)
  })
  const revisions = [a.header.revision, b.header.revision]
  return {
    what: `${where(a)} and ${where(b)}`,
    streams: [a.header.stream],
    names: isOne ? at(a.header.stream, ...revisions) : byHead,
  }
}

const drop: Attack = (data, before, draw) => {
  const event = any(before, draw)
  const { stream, revision } = event.header
  const isLast = revision === lastOf(before, stream)
  const [isDense, isRenumbered] = [draw(2) === 0, draw(2) === 0]
  forging(data, (forger) => {
    forger.remove([event.position])
    if (isRenumbered) forger.renumber(stream, revision + 1, -1)
    if (isDense) forger.move(event.position + 1, -1)
    if (draw(2) === 0) forger.remark()
  })
  return {
    what: where(event),
    streams: [stream],
    names: isLast ? byHead : at(stream, revision, revision + 1),
  }
}

const insert: Attack = (data, before, draw) => {
  const event = any(before, draw)
  const { stream, revision } = event.header
  forging(data, (forger) => {
    forger.renumber(stream, revision, 1)
    forger.move(event.position, 1)
    const columns = 'stream, kind, origin, turn, at, size, fold, command, causation, call, trace, nonce, wake, proof'
    forger.log.exec(
      `INSERT INTO events(position, revision, ${columns}) SELECT ${event.position}, ${revision}, ${columns} FROM events
        WHERE position = ${event.position + 1}`,
    )
    forger.log.exec(
      `INSERT INTO bodies SELECT ${event.position}, packed, bytes FROM bodies WHERE position = ${event.position + 1}`,
    )
    if (draw(2) === 0) forger.remark()
  })
  return { what: `before ${where(event)}`, streams: [stream], names: at(stream, revision, revision + 1, revision + 2) }
}

/** The log ends after `kept` events. `hidden`: so do its mark and its heads. */
function cut(data: string, { events }: Attacked, kept: number, { mark, heads }: { mark: boolean; heads: boolean }) {
  forging(data, (forger) => {
    forger.remove(events.slice(kept).map(({ position }) => position))
    if (mark) forger.remark()
    if (heads) forger.forgetHeads(kept)
  })
}

const cutTail: Attack = (data, before, draw) => {
  const heads = draw(3) === 0
  const kept = 2 + draw((heads ? before.anchored : before.events.length) - 2)
  cut(data, before, kept, { mark: draw(2) === 0 || heads, heads })
  return {
    what: `after ${kept}${heads ? ' with its heads' : ''}`,
    streams: [],
    needsAnchor: heads,
    names: heads ? byAnchor : byHead,
  }
}

const cutStream: Attack = (data, before, draw) => {
  const heads = draw(3) === 0
  const event = any(before, draw, heads ? before.anchored : before.events.length)
  const { stream, revision } = event.header
  forging(data, (forger) => {
    const gone = before.events.filter(({ header }) => header.stream === stream && header.revision >= revision)
    const isDense = draw(2) === 0
    for (const { position } of gone.toReversed()) {
      forger.remove([position])
      if (isDense) forger.move(position + 1, -1)
    }
    forger.remark()
    if (heads) forger.forgetHeads(event.position - 1)
  })
  return { what: `from ${where(event)}`, streams: [], needsAnchor: heads, names: heads ? byAnchor : byHeadOrKey }
}

const rewriteStream: Attack = (data, before, draw) => {
  const heads = draw(3) === 0
  const found = wordy(before, draw, heads ? before.anchored : before.events.length)
  if (found === null) return null
  const { event, body } = found
  forging(data, (forger) => {
    forger.rewrite(before.events, (one) => (one === event ? { body } : null))
    forger.remark()
    if (heads) forger.forgetHeads(event.position - 1)
  })
  return { what: `from ${where(event)}`, streams: [], needsAnchor: heads, names: heads ? byAnchor : byHead }
}

const rewriteAll: Attack = (data, before, draw) => {
  const found = wordy(before, draw, before.anchored)
  if (found === null) return null
  const own = draw(2) === 0
  const { event, body } = found
  forging(data, (forger) => forger.rewriteAll(before.events, (one) => (one === event ? { body } : null), own))
  const what = `from ${where(event)} with ${own ? 'other keys' : 'the stolen keys'}`
  return { what, streams: [event.header.stream], needsAnchor: true, names: byAnchor }
}

const oldBackup: Attack = (data, before, draw) => {
  const heads = draw(2) === 0
  const kept =
    before.heads[draw(before.heads.filter((size) => size < (heads ? before.anchored : before.events.length)).length)]!
  cut(data, before, kept, { mark: true, heads })
  const what = `of ${kept} events, ${heads ? 'whole' : 'without the signed heads'}`
  return { what, streams: [], needsAnchor: heads, names: heads ? byAnchor : byHead }
}

/** Tables without rows of events: the position, the names of columns and the words of a search. */
const UNCOMPARED = /^(sqlite_|position$|columns$|memory_words)/

const tableEdit: Attack = (data, { events }, draw) => {
  const db = new DatabaseSync(liveFile(join(data, 'tables'))!, { enableForeignKeyConstraints: false })
  try {
    const all = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
    const names = all.map(({ name }) => String(name)).filter((name) => !UNCOMPARED.test(name))
    const table = names[draw(names.length)]!
    const rows = db.prepare(`SELECT * FROM "${table}"`).all()
    const row = rows[draw(rows.length)]
    if (row === undefined) return null
    const columns = Object.keys(row)
    const [column, isRemoved] = [columns[draw(columns.length)]!, draw(3) === 0]
    const value = row[column]!
    const changed = typeof value === 'number' ? value + 1 : `${String(value)}x`
    const isThisRow = columns.map((name) => `"${name}" IS ?`).join(' AND ')
    try {
      if (isRemoved) db.prepare(`DELETE FROM "${table}" WHERE ${isThisRow}`).run(...Object.values(row))
      else db.prepare(`UPDATE "${table}" SET "${column}" = ? WHERE ${isThisRow}`).run(changed, ...Object.values(row))
    } catch (error) {
      // A column that takes no text keeps no other value.
      if (/datatype|cannot store|UNIQUE/.test((error as Error).message)) return null
      throw error
    }
    return {
      what: `${table}.${isRemoved ? 'row' : column} of ${JSON.stringify(row).slice(0, 200)}`,
      rows: true,
      // Those that a value of the row names; `verifyLog` looks for rows of others.
      streams: [...new Set(events.map(({ header }) => header.stream))].filter((stream) =>
        Object.values(row).some((one) => one === stream || one === idOf(stream)),
      ),
      names: ({ where, message }) =>
        (where === 'rows' && message.includes(table)) ||
        (table === 'streams' && message.includes('the tables have seen')),
    }
  } finally {
    db.close()
  }
}

const blobEdit: Attack = (data, { events }, draw) => {
  const files = readdirSync(join(data, 'blobs'), { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  const { parentPath, name } = files[draw(files.length)]!
  const event = events.find(({ header }) => header.body.hash === name)
  if (event === undefined) return null
  const path = join(parentPath, name)
  const bytes = readFileSync(path)
  const way = draw(5)
  if (way === 0) rmSync(path)
  else if (way === 1) writeFileSync(path, bytes.subarray(0, draw(bytes.length)))
  else if (way === 2) writeFileSync(path, Buffer.concat([bytes, Buffer.of(draw(256))]))
  else {
    bytes[draw(bytes.length)]! ^= 1 << draw(8)
    writeFileSync(path, bytes)
  }
  const { stream, revision } = event.header
  return { what: `${where(event)} in way ${way}`, streams: [stream], names: at(stream, revision) }
}

const keyEdit: Attack = (data, before, draw) => {
  const way = draw(4)
  return forging(data, (forger) => {
    const heads = forger.tree.prepare('SELECT number, size, note FROM heads').all()
    const { number, note } = heads[draw(heads.length)]!
    const write = (text: string) =>
      forger.tree.prepare('UPDATE heads SET note = ? WHERE number = ?').run(text, Number(number))
    if (way === 0) {
      const bytes = Buffer.from(String(note))
      bytes[draw(bytes.length)]! ^= 1 << draw(7)
      write(bytes.toString('utf8'))
      return { what: `a bit of head ${Number(number)}`, streams: [], names: byHead }
    }
    if (way === 1) {
      const other = heads[draw(heads.length)]!
      if (other.size === heads.find((one) => one.number === number)!.size) return null
      write(String(other.note))
      return { what: `head ${Number(number)} for ${Number(other.number)}`, streams: [], names: byHead }
    }
    if (way === 2) {
      write(String(note).replace(/\n(\d+)\n/, (_, size) => `\n${Number(size) + 1 + draw(9)}\n`))
      return { what: `the size in head ${Number(number)}`, streams: [], names: byHeadOrKey }
    }
    const type = draw(2) === 0 ? 'log_key_created' : 'log_key_rotated'
    const fact = before.events.find(({ header }) => header.type === type)!
    const vkey = String(jsonOf(fact)!.vkey).replace(/.{4}$/, 'AAA=')
    forger.rewrite(before.events, (one) => (one === fact ? { body: { ...jsonOf(fact), vkey } } : null))
    return { what: `the key in ${type}`, streams: [], names: byHeadOrKey }
  })
}

export const ATTACKS: Readonly<Record<string, Attack>> = {
  edit,
  swap,
  drop,
  insert,
  'cut tail': cutTail,
  'cut stream': cutStream,
  'rewrite one stream': rewriteStream,
  'rewrite all': rewriteAll,
  'old backup': oldBackup,
  'table edit': tableEdit,
  'blob edit': blobEdit,
  'head or key edit': keyEdit,
}
