import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  checkpointText,
  type LogCheckpoint,
  openCheckpoint,
  signCheckpoint,
} from '../../../../domain/log/proof/checkpoint.ts'
import { formatNote, signatureLine } from '../../../../domain/log/proof/note.ts'
import { EMPTY_TREE_ROOT, edgeRoot, leafHash } from '../../../../domain/log/proof/tree.ts'
import {
  decideWitness,
  formatWitnessRequest,
  parseWitnessRequest,
  readWitnessAnswer,
  type WitnessRequest,
  witnessAnswer,
} from '../../../../domain/log/proof/witness.ts'
import { StoredTree } from '../../../support/merkle.ts'
import { cosigner, logSigner } from '../../../support/proof-keys.ts'
import { property } from '../../../support/property.ts'

const [log, witness] = [logSigner('log.example'), cosigner('witness.example')]
const tree = new StoredTree()
const checkpoints: LogCheckpoint[] = [{ origin: 'log.example', size: 0, root: EMPTY_TREE_ROOT }]
for (let size = 1; size <= 40; size++) {
  tree.append(leafHash(Buffer.from(String(size))))
  checkpoints.push({ origin: 'log.example', size, root: edgeRoot(tree.edge) })
}
const known = (size: number | null) => ({ keys: [log.key], last: size === null ? null : checkpoints[size]! })
const request = (old: number, size: number): WitnessRequest => ({
  ...{ old, proof: tree.consistency(old, size), checkpoint: signCheckpoint(checkpoints[size]!, log) },
})

describe('a witness', () => {
  test('cosigns what is consistent with its last checkpoint, and the log adds the cosignature', () => {
    fc.assert(
      fc.property(fc.nat(40), fc.nat(40), fc.nat(), (a, b, time) => {
        const [old, size] = [Math.min(a, b), Math.max(a, b)]
        const sent = request(old, size)
        const parsed = parseWitnessRequest(formatWitnessRequest(sent))
        expect(parsed.log).toBe('log.example')
        const decision = decideWitness(parsed, known(old === 0 ? null : old))
        expect(decision).toEqual({
          status: 200,
          checkpoint: checkpoints[size],
          text: checkpointText(checkpoints[size]!),
          note: sent.checkpoint,
        })
        const outcome = readWitnessAnswer(witnessAnswer(decision, witness, time), sent.checkpoint, witness.key)
        if (outcome.kind !== 'cosigned') throw new Error(outcome.kind)
        const { signatures } = openCheckpoint(outcome.checkpoint, [log.key], [witness.key])
        expect(signatures.map((one) => [one.key.name, one.time])).toEqual([
          ['log.example', null],
          ['witness.example', time],
        ])
      }),
      property(200),
    )
  })

  test('adds one line to a note, however often the witness repeats it', () => {
    const sent = request(0, 5)
    const answer = witnessAnswer(decideWitness(sent, known(null)), witness, 7)
    const outcome = readWitnessAnswer({ ...answer, body: answer.body.repeat(90) }, sent.checkpoint, witness.key)
    expect(outcome).toEqual(readWitnessAnswer(answer, sent.checkpoint, witness.key))
  })

  test('answers 409 with its size when it is elsewhere, and the log sends the proof from there', () => {
    const decision = decideWitness(request(0, 9), known(7))
    expect(decision).toEqual({ status: 409, size: 7 })
    const answer = witnessAnswer(decision, witness, 1)
    expect(answer).toEqual({ status: 409, mediaType: 'text/x.tlog.size', body: '7\n' })
    expect(readWitnessAnswer(answer, '', witness.key)).toEqual({ kind: 'behind', size: 7 })
    expect(decideWitness(request(7, 9), known(7)).status).toBe(200)
    expect(decideWitness(request(3, 9), known(null))).toEqual({ status: 409, size: 0 })
    expect(decideWitness(request(3, 5), known(7))).toEqual({ status: 409, size: 7 })
  })

  const forged = (size: number, change: Partial<LogCheckpoint>) =>
    signCheckpoint({ ...checkpoints[size]!, ...change }, log)
  const other = Buffer.alloc(32, 1)
  test.each<[number, string, WitnessRequest, number | null]>([
    [400, 'an old size above the size', { ...request(0, 5), old: 6 }, 6],
    [422, 'a proof from nothing', { ...request(0, 5), proof: [other] }, null],
    [422, 'no proof', { ...request(3, 5), proof: [] }, 3],
    [422, 'another proof', { ...request(3, 5), proof: tree.consistency(3, 6) }, 3],
    [422, 'another root', { ...request(3, 5), checkpoint: forged(5, { root: other }) }, 3],
    [422, 'another root at the same size', { ...request(5, 5), checkpoint: forged(5, { root: other }) }, 5],
    [422, 'another root of the empty tree', { ...request(0, 0), checkpoint: forged(0, { root: other }) }, null],
    [403, 'an altered text', { ...request(3, 5), checkpoint: request(3, 5).checkpoint.replace('\n5\n', '\n6\n') }, 3],
    [
      403,
      'an unknown key',
      { ...request(3, 5), checkpoint: signCheckpoint(checkpoints[5]!, logSigner('log.example', 2)) },
      3,
    ],
  ])('answers %i to %s', (status, _, sent, last) => {
    const decision = decideWitness(parseWitnessRequest(formatWitnessRequest(sent)), known(last))
    expect(decision).toMatchObject({ status, reason: expect.any(String) })
    expect(readWitnessAnswer(witnessAnswer(decision, witness, 1), sent.checkpoint, witness.key)).toMatchObject({
      ...{ kind: 'refused', reason: expect.stringContaining(`${status} `) },
    })
  })

  test('answers 404 for a log that it does not know', () => {
    expect(decideWitness(request(0, 5), null)).toMatchObject({
      status: 404,
      reason: expect.stringContaining('add the key'),
    })
  })

  test.each([
    ['no old size', (body: string) => body.replace(/^old \d+\n/, '')],
    ['a leading zero', (body: string) => body.replace(/^old /, 'old 0')],
    ['a hash of another length', (body: string) => body.replace(/\n.*\n/, '\nAAAA\n')],
    ['64 hashes', (body: string) => body.replace('\n', `\n${`${'A'.repeat(43)}=\n`.repeat(64)}`)],
    ['no checkpoint', (body: string) => body.slice(0, body.indexOf('\n\n') + 2)],
    ['no empty line', (body: string) => body.replaceAll('\n\n', '\n')],
    ['a size that is none', (body: string) => body.replace('\n5\n', '\nx\n')],
  ])('answers 400 to a request with %s', (_, change) => {
    const body = formatWitnessRequest(request(3, 5))
    expect(parseWitnessRequest(body).old).toBe(3)
    expect(() => parseWitnessRequest(change(body))).toThrow(expect.objectContaining({ code: 'MALFORMED' }))
  })
})

describe('the answer of a witness', () => {
  const sent = request(3, 5)
  const { text } = decideWitness(sent, known(3)) as { text: string }
  const ok = (body: string) => ({ status: 200, mediaType: 'text/plain', body })
  const read = (body: string) => () => readWitnessAnswer(ok(body), sent.checkpoint, witness.key)

  test('may have lines of unknown keys, which are left out', () => {
    const unknown = signatureLine(cosigner('witness.example', 7), text, 1)
    const own = signatureLine(witness, text, 1)
    expect(read(unknown + own)()).toEqual({ kind: 'cosigned', checkpoint: sent.checkpoint + own })
    expect(read(unknown)).toThrow('no known key signed')
  })

  test('is refused when it signs something else', () => {
    expect(read(signatureLine(witness, 'log.example\n5\n', 1))).toThrow('is wrong; the text was altered')
    const added = `x\n${formatNote('', [])}`
    const longer = signatureLine(witness, `${text}\n${added}`, 1)
    expect(read(`${added}\n${longer}`)).toThrow(expect.objectContaining({ name: 'ProofError' }))
    expect(read('')).toThrow('has no signature')
    expect(() => readWitnessAnswer(ok(signatureLine(log, text)), sent.checkpoint, log.key)).toThrow(
      'not the key of a witness',
    )
  })

  test('with 409 and no size is malformed', () => {
    const wrong = { status: 409, mediaType: 'text/x.tlog.size', body: 'seven\n' }
    expect(() => readWitnessAnswer(wrong, sent.checkpoint, witness.key)).toThrow('"seven" is not a decimal number')
    expect(readWitnessAnswer({ ...wrong, mediaType: 'text/html' }, '', witness.key)).toMatchObject({ kind: 'refused' })
  })
})
