import { hash } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FileBlobs } from '../../adapters/files/blobs/store.ts'
import { openSqliteLog } from '../../adapters/sqlite/log/open.ts'
import { canonicalBytes } from '../../domain/log/canonical.ts'
import { bodyHash, SALT_BYTES, unsalted } from '../../domain/log/seal.ts'
import { bodyOf } from '../../domain/stream/runtime/bodies.ts'
import { opened } from '../support/attacks/story.ts'
import { placesOf } from '../support/faults/scan.ts'
import { tempFolder } from '../support/folders.ts'

// A program that knows an erased body cannot confirm it: no file holds its salt, its bytes or a hash of it without salt.

const MEMORY = 'Zoe keeps a ferret in the attic'
const VALUE = 'Ida owes three hundred to nobody'
const PROMPT = 'Omar is afraid of bees'
const DIARY = 'the diary says that Uma wept'
const ANSWER = 'Vera has a scar '.repeat(6_000)

/** Every body of the log with its salt, by stream and revision. An erased body is absent. */
async function bodies(data: string): Promise<Map<string, Uint8Array>> {
  const log = await openSqliteLog({ folder: join(data, 'log'), mode: 'reader' })
  const blobs = new FileBlobs(join(data, 'blobs'))
  const found = new Map<string, Uint8Array>()
  try {
    for await (const page of log.readAll(null))
      for (const event of page) {
        if (event.erased) continue
        const { stream, revision, body, runId = '' } = event.header
        found.set(`${stream}@${revision}`, event.body ?? (await blobs.get(runId, body.hash)))
        await bodyOf({ log, blobs }, event)
      }
    return found
  } finally {
    await log.close()
  }
}

const formsOf = (bytes: Uint8Array): (string | Uint8Array)[] => {
  const buffer = Buffer.from(bytes)
  return [buffer, buffer.toString('hex'), buffer.toString('base64').replace(/=+$/, '')]
}

/** Everything that confirms a stored body to somebody who knows it without its salt. */
function confirming(stored: Uint8Array): (string | Uint8Array)[] {
  const body = unsalted(stored)
  const canonical = canonicalBytes(JSON.parse(Buffer.from(body).toString('utf8')))
  const hashes = [body, canonical, Buffer.from(body).toString('hex')].map((one) => hash('sha256', one, 'buffer'))
  return [Buffer.from(body), ...hashes.flatMap(formsOf), ...formsOf(stored.subarray(0, SALT_BYTES))]
}

/** Whether 16 adjacent bytes of a file are the salt with which a body has this hash. */
function confirmed(file: string, body: Uint8Array, wanted: string): boolean {
  const bytes = readFileSync(file)
  const guess = new Uint8Array(SALT_BYTES + body.length)
  guess.set(body, SALT_BYTES)
  for (let at = 0; at + SALT_BYTES <= bytes.length; at += 1) {
    guess.set(bytes.subarray(at, at + SALT_BYTES))
    if (bodyHash(guess) === wanted) return true
  }
  return false
}

test('nothing that is left confirms an erased body: of a run, an agent, a fact, a value, a request, a blob', async () => {
  const root = tempFolder()
  const [data, anchor] = [join(root, 'data'), join(root, 'anchor')]
  mkdirSync(anchor)
  const first = await opened(data, {
    knows: {
      script: 1,
      turns: [
        { calls: [{ tool: 'remember', arguments: { text: MEMORY, scope: 'global' } }] },
        { text: ANSWER, calls: [{ tool: 'complete_task', arguments: { summary: 'done' } }] },
      ],
    },
  })
  const { keepup, puppet } = first
  const { runId } = await keepup.start({ task: 'Ask Vera', model: 'scripted:knows' })
  await keepup.drive(runId)
  await keepup.contextStore('review').set('goal', VALUE)
  const { documentId } = await keepup.createDocument({ title: 'Plan', format: 'markdown', content: 'one' })
  const { frontier, blocks } = await keepup.documents.read(documentId)
  const { id: span_id, hash: if_match_context_hash } = blocks[0]!
  await keepup.documents.send(documentId, {
    ...{ doc_frontier: frontier, client_request_id: 'r1' },
    ops_xml: `<replace_spans><span span_id="${span_id}">two</span></replace_spans>`,
    preconditions: [{ span_id: span_id!, if_match_context_hash: if_match_context_hash! }],
  })
  const agent = await keepup.runAgent('fake', { prompt: PROMPT })
  await puppet.text(DIARY)
  puppet.exit()
  await agent.completion
  await keepup.addAnchor({ anchor: 'disk', kind: 'folder', target: anchor })
  await keepup.anchorNow()
  await keepup.close()
  const before = await bodies(data)

  const again = (await opened(data)).keepup
  const reason = 'asked for'
  const [fact] = await Array.fromAsync(again.rows('listMemories', {}))
  const history = await again.listDocumentHistory({ id: documentId })
  const request = JSON.stringify(history)
    .match(/"revision":(\d+)/g)!
    .map((one) => Number(one.slice(11)))
  // The mirror: before the erasure all of it is found.
  const logFile = join(data, 'log', 'log.db')
  const isFound = (stored: Uint8Array) => placesOf(formsOf(stored.subarray(0, SALT_BYTES)), root).length > 0
  expect([...before.values()].filter((stored) => !isFound(stored))).toEqual([])
  const value = before.get('context-review@0')!
  expect(confirmed(logFile, unsalted(value), bodyHash(value))).toBe(true)
  for (const text of [MEMORY, VALUE, PROMPT, DIARY, ANSWER]) expect(placesOf([text], root)).not.toEqual([])

  await again.eraseRun({ id: runId, all: true, reason })
  await again.eraseRun({ id: agent.agentId, all: true, reason })
  await again.forgetMemory({ id: fact!.id, erase: true })
  await again.eraseContextVariables({ store: 'review', all: true, reason })
  for (const revision of request)
    await again.eraseEnvelope({ id: documentId, revision, reason }).catch((error: Error) => error)
  await again.anchorNow()
  await again.services.backup(join(root, 'backup'))
  await again.close()

  const after = await bodies(data)
  const erased = [...before].filter(([place]) => !after.has(place))
  const kinds = new Set(erased.map(([place]) => place.split('-')[0]))
  expect([...kinds].sort()).toEqual(['agent', 'context', 'document', 'external', 'memory'])
  expect(erased.some(([, stored]) => stored.length > 64 * 1024)).toBe(true)
  const places = erased.map(([place, stored]) => [place, placesOf(confirming(stored), root)])
  expect(places.filter(([, found]) => found!.length > 0)).toEqual([])
  expect(confirmed(logFile, unsalted(value), bodyHash(value))).toBe(false)
  for (const text of [MEMORY, VALUE, PROMPT, DIARY, ANSWER]) expect(placesOf([text], root)).toEqual([])
})
