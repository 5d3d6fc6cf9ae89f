import { hash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { canonicalBytes } from '../../../domain/log/canonical.ts'
import type { Header, RecordedEvent } from '../../../domain/log/envelope.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import { parseCheckpoint, signCheckpoint } from '../../../domain/log/proof/checkpoint.ts'
import { base64 } from '../../../domain/log/proof/encoding.ts'
import {
  ED25519,
  formatNote,
  formatSecretKey,
  formatVkey,
  type NoteSigner,
  noteSigner,
  openNote,
  parseSecretKey,
  signatureLine,
  splitNote,
} from '../../../domain/log/proof/note.ts'
import { appendLeaves, EMPTY_EDGE, edgeRoot, eventLeaf } from '../../../domain/log/proof/tree.ts'
import { chainHash, GENESIS, saltBody, unsalted } from '../../../domain/log/seal.ts'

// Somebody who can write every file of a data folder, knows keepup's source, and may know the keys that sign the heads.

export const jsonOf = ({ body }: Pick<RecordedEvent, 'body'>): JsonObject | null => {
  try {
    return body === null ? null : JSON.parse(Buffer.from(unsalted(body)).toString('utf8'))
  } catch {
    return null
  }
}

/** Puts another text in the place of a text in a JSON value. Null: there is none, or only short ones. */
export function reworded(value: unknown, draw: (below: number) => number): JsonObject | null {
  const texts: string[] = []
  JSON.stringify(value, (key, one) => {
    if (typeof one === 'string' && one.length > 3 && WORDS.has(key)) texts.push(one)
    return one
  })
  if (texts.length === 0) return null
  const chosen = texts[draw(texts.length)]!
  return JSON.parse(JSON.stringify(value, (_, one) => (one === chosen ? `${chosen} forged` : one)))
}
const WORDS = new Set(['text', 'value', 'title', 'content', 'reason', 'summary', 'task', 'finalText', 'prompt'])

/** A change of an event: other members of the header, or another body. */
export type Change = { readonly header?: Partial<Header>; readonly body?: JsonObject }

export class Forger {
  readonly data: string
  readonly log: DatabaseSync
  readonly tree: DatabaseSync

  constructor(data: string) {
    this.data = data
    this.log = unguarded(join(data, 'log', 'log.db'))
    this.tree = unguarded(join(data, 'tree.db'))
  }

  close(): void {
    for (const db of [this.log, this.tree]) {
      db.exec('COMMIT')
      db.close()
    }
  }

  /** Makes room before a position: everything from there on moves by `by` positions. */
  move(from: number, by: number): void {
    for (const table of ['events', 'bodies', 'erasures']) {
      this.log.exec(`UPDATE ${table} SET position = -(position + ${by}) WHERE position >= ${from}`)
      this.log.exec(`UPDATE ${table} SET position = -position WHERE position < 0`)
    }
    this.log.exec(`UPDATE erasures SET fact = fact + ${by} WHERE fact >= ${from}`)
  }

  /** Moves the revisions of a stream, from one on. */
  renumber(stream: string, from: number, by: number): void {
    const of = `stream = (SELECT id FROM streams WHERE name = '${stream}')`
    this.log.exec(`UPDATE events SET revision = -(revision + ${by}) - 1 WHERE ${of} AND revision >= ${from}`)
    this.log.exec(`UPDATE events SET revision = -(revision + 1) WHERE ${of} AND revision < 0`)
  }

  remove(positions: readonly number[]): void {
    const all = positions.join()
    for (const table of ['bodies', 'erasures', 'events'])
      this.log.exec(`DELETE FROM ${table} WHERE position IN (${all})`)
  }

  /** Makes the mark of the log name its last event. */
  remark(): void {
    const row = this.log
      .prepare('SELECT position, substr(proof, 1, 32) AS hash FROM events ORDER BY position DESC')
      .get()!
    const path = join(this.data, 'log', 'log.mark')
    const bytes = readFileSync(path)
    for (const slot of [bytes.subarray(0, 128), bytes.subarray(128, 256)]) {
      slot.writeBigUInt64LE(BigInt(Number(row.position)), 16)
      slot.set(row.hash as Uint8Array, 40)
      slot.set(hash('sha256', slot.subarray(0, 112), 'buffer').subarray(0, 16), 112)
    }
    writeFileSync(path, bytes)
  }

  /** Forgets the tree, and the heads of more than `size` events. */
  forgetHeads(size: number): void {
    this.tree.exec(
      `DELETE FROM heads WHERE size > ${size}; DELETE FROM tree; DELETE FROM hashes; DELETE FROM positions`,
    )
  }

  keys(): NoteSigner[] {
    const lines = readFileSync(join(this.data, 'log.key'), 'utf8').split('\n')
    return lines.filter((line) => line !== '').map(parseSecretKey)
  }

  /**
   * Changes events and writes their streams anew from there, with hashes that fit. Without digests, which a forger omits
   * because they are optional. Returns the hashes of all events in the order of the log.
   */
  rewrite(
    events: readonly RecordedEvent[],
    change: (event: RecordedEvent, hashes: readonly string[]) => Change | null,
  ) {
    const heads = new Map<string, { hash: string; isNew: boolean }>()
    const hashes: string[] = []
    for (const event of events) {
      const { stream } = event.header
      const before = heads.get(stream) ?? { hash: GENESIS, isNew: false }
      const changed = change(event, hashes)
      let { hash } = event
      if (changed !== null || before.isNew) {
        const { digest: _, ...kept } = event.header
        const salted = changed?.body && saltBody(canonicalBytes(changed.body), Buffer.alloc(16, 3))
        const body =
          salted === undefined ? kept.body : { ...kept.body, size: salted.header.size, hash: salted.header.hash }
        const header: Header = { ...kept, ...changed?.header, body }
        hash = chainHash(before.hash, header)
        this.log
          .prepare('UPDATE events SET proof = ?, fold = NULL, size = ?, turn = ?, at = ? WHERE position = ?')
          .run(
            Buffer.from(hash + body.hash, 'hex'),
            body.size,
            header.turn,
            Date.parse(header.timestamp),
            event.position,
          )
        if (salted !== undefined)
          this.log
            .prepare('UPDATE bodies SET packed = 0, bytes = ? WHERE position = ?')
            .run(salted.bytes, event.position)
      }
      hashes.push(hash)
      heads.set(stream, { hash, isNew: changed !== null || before.isNew })
    }
    return hashes
  }

  /**
   * Writes the log anew from a change on: the streams, the facts about anchors, every head and the mark, with the keys of the
   * log or, where `own` is true, with keys of the forger's own.
   */
  rewriteAll(events: readonly RecordedEvent[], first: (event: RecordedEvent) => Change | null, own: boolean): void {
    const stolen = this.keys()
    const keys = stolen.map((key, at) => (own ? noteSigner(key.key.name, Buffer.alloc(32, 50 + at), ED25519) : key))
    const signerOf = (signed: string) => keys[stolen.findIndex(({ key }) => isSignedBy(signed, key))]!
    const keyOf = (vkey: unknown) => keys[stolen.findIndex(({ key }) => formatVkey(key) === vkey)]!
    const roots = [edgeRoot(EMPTY_EDGE)]
    let edge = EMPTY_EDGE
    const upTo = (hashes: readonly string[]) => {
      for (const one of hashes.slice(edge.size)) {
        edge = appendLeaves(edge, [eventLeaf(one)]).edge
        roots.push(edgeRoot(edge))
      }
    }
    const resigned = (signed: string): string => {
      const { origin, size } = parseCheckpoint(splitNote(signed).text)
      return signCheckpoint({ origin, size, root: roots[size]! }, signerOf(signed))
    }
    const hashes = this.rewrite(events, (event, before) => {
      const body = jsonOf(event)
      switch (event.header.type) {
        case 'anchor_made':
          upTo(before)
          return {
            body: { ...body, root: base64(roots[Number(body!.size)]!), checkpoint: resigned(String(body!.checkpoint)) },
          }
        case 'log_key_created':
          return own ? { body: { ...body, vkey: formatVkey(keyOf(body!.vkey).key) } } : null
        case 'log_key_rotated': {
          if (!own) return null
          const vkey = formatVkey(keyOf(body!.vkey).key)
          const text = `${String(body!.origin)}\n${vkey}\n`
          const signer = signerOf(String(body!.note))
          return { body: { ...body, vkey, note: formatNote(text, [signatureLine(signer, text)]) } }
        }
        default:
          return first(event)
      }
    })
    upTo(hashes)
    for (const { number, note } of this.tree.prepare('SELECT number, note FROM heads').all())
      this.tree.prepare('UPDATE heads SET note = ? WHERE number = ?').run(resigned(String(note)), Number(number))
    this.tree.exec('DELETE FROM tree; DELETE FROM hashes; DELETE FROM positions')
    if (own) writeFileSync(join(this.data, 'log.key'), keys.map((key) => `${formatSecretKey(key)}\n`).join(''))
    this.remark()
  }
}

function isSignedBy(signed: string, key: NoteSigner['key']): boolean {
  try {
    return openNote(signed, [key]).signatures.length > 0
  } catch {
    return false
  }
}

/** Opens a database without the triggers that refuse changes. */
function unguarded(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { enableForeignKeyConstraints: false })
  db.exec('PRAGMA synchronous = OFF; BEGIN')
  for (const { name } of db.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all())
    db.exec(`DROP TRIGGER ${String(name)}`)
  return db
}
