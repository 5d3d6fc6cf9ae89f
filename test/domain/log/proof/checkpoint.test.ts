import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  checkpointText,
  openCheckpoint,
  parseCheckpoint,
  signCheckpoint,
} from '../../../../domain/log/proof/checkpoint.ts'
import { formatNote, signatureLine } from '../../../../domain/log/proof/note.ts'
import { formatProofFile, parseProofFile, verifyProofFile } from '../../../../domain/log/proof/proof-file.ts'
import { edgeRoot, eventLeaf } from '../../../../domain/log/proof/tree.ts'
import { flipped, StoredTree } from '../../../support/merkle.ts'
import { cosigner, keyName, logSigner } from '../../../support/proof-keys.ts'
import { property } from '../../../support/property.ts'

const hash = fc.uint8Array({ minLength: 32, maxLength: 32 })
const bytesOf = (data: Uint8Array) => Buffer.from(data)
const root = Buffer.alloc(32, 5)
const log = logSigner('log.example/1')
const checkpoint = { origin: 'log.example/1', size: 3, root }

describe('a checkpoint', () => {
  test('survives signing and opening, with the cosignatures of known witnesses', () => {
    fc.assert(
      fc.property(keyName, fc.maxSafeNat(), hash, keyName, fc.nat(), (origin, size, root, witness, time) => {
        const [signer, witnessing] = [logSigner(origin), cosigner(witness)]
        const text = checkpointText({ origin, size, root })
        const note = signCheckpoint({ origin, size, root }, signer) + signatureLine(witnessing, text, time)
        const opened = openCheckpoint(note, [signer.key], [witnessing.key])
        expect({ ...opened, root: bytesOf(opened.root) }).toMatchObject({ origin, size, root: bytesOf(root), text })
        expect(opened.signatures.map((one) => one.time)).toEqual([null, time])
        expect(openCheckpoint(note, [signer.key]).signatures).toHaveLength(1)
      }),
      property(100),
    )
  })

  test('is refused from a witness alone, and from a key of another log', () => {
    const text = checkpointText(checkpoint)
    for (const name of ['w', log.key.name]) {
      const byWitness = formatNote(text, [signatureLine(cosigner(name), text, 1)])
      expect(() => openCheckpoint(byWitness, [log.key], [cosigner(name).key])).toThrow('no known key of the log')
    }
    const other = logSigner('log.example/2')
    expect(() => signCheckpoint(checkpoint, other)).toThrow("use the log's key")
    const byOther = formatNote(text, [signatureLine(other, text)])
    expect(() => openCheckpoint(byOther, [other.key, log.key])).toThrow(
      expect.objectContaining({ code: 'SIGNATURE_MISSING' }),
    )
  })

  test.each([
    ['an empty origin', '\n3\nROOT\n'],
    ['a leading zero', 'o\n03\nROOT\n'],
    ['a sign', 'o\n+3\nROOT\n'],
    ['a size above 2^53', 'o\n9007199254740993\nROOT\n'],
    ['a short root', 'o\n3\nAAAA\n'],
    ['two lines', 'o\n3\n'],
    ['an empty extension line', 'o\n3\nROOT\n\n'],
    ['an extension line after an empty one', 'o\n3\nROOT\n\nx\n'],
  ])('with %s is malformed', (_, text) => {
    const whole = text.replace('ROOT', root.toString('base64'))
    expect(() => parseCheckpoint(whole)).toThrow(expect.objectContaining({ code: 'MALFORMED' }))
  })

  test('may have extension lines, and an origin of one line', () => {
    expect(parseCheckpoint(`${checkpointText(checkpoint)}more\n`)).toEqual(checkpoint)
    const origin = `a\n7\n${root.toString('base64')}`
    expect(() => checkpointText({ ...checkpoint, origin })).toThrow('is not one line')
    expect(() => checkpointText({ ...checkpoint, size: 1.5 })).toThrow('"1.5" is not a decimal number')
    expect(() => checkpointText({ ...checkpoint, origin: 'a\r' })).toThrow('is not a checkpoint')
  })
})

describe('a proof file', () => {
  const hashes = Array.from({ length: 300 }, (_, n) => n.toString(16).padStart(64, '0'))
  const tree = new StoredTree()
  tree.append(...hashes.map(eventLeaf))
  const note = signCheckpoint({ origin: log.key.name, size: 300, root: edgeRoot(tree.edge) }, log)

  test('of each event verifies after it was written and read, and of no other event', () => {
    fc.assert(
      fc.property(fc.nat(299), fc.nat(299), fc.option(fc.uint8Array({ maxLength: 50 })), (index, other, extra) => {
        const text = formatProofFile({ index, proof: tree.inclusion(index), checkpoint: note, extra })
        const file = parseProofFile(text)
        expect(file.extra === null ? null : [...file.extra]).toEqual(extra === null ? null : [...extra])
        expect(formatProofFile(file)).toBe(text)
        expect(verifyProofFile(file, hashes[index]!, [log.key])).toMatchObject({ size: 300 })
        const wrong = () => verifyProofFile(file, hashes[other]!, [log.key])
        if (other === index) wrong()
        else expect(wrong).toThrow(expect.objectContaining({ code: 'PROOF_WRONG' }))
      }),
      property(100),
    )
  })

  test('is not accepted with one flipped bit of its proof, at another index or with an unknown key', () => {
    const file = parseProofFile(formatProofFile({ index: 9, proof: tree.inclusion(9), checkpoint: note, extra: null }))
    const verify =
      (change: object, keys = [log.key]) =>
      () =>
        verifyProofFile({ ...file, ...change }, hashes[9]!, keys)
    expect(verify({})).not.toThrow()
    for (let at = 0; at < file.proof.length; at++)
      expect(verify({ proof: file.proof.with(at, flipped(file.proof[at]!, at * 7)) })).toThrow('does not place event')
    expect(verify({ index: 8 })).toThrow('at index 8')
    expect(verify({ checkpoint: note.replace('300', '301') })).toThrow('is wrong; the text was altered')
    expect(verify({}, [logSigner('log.example/1', 2).key])).toThrow('no known key signed')
  })

  test.each([
    ['another title', (text: string) => text.replace('@v1', '@v2')],
    ['no index', (text: string) => text.replace(/^index .*\n/m, '')],
    ['an index with a leading zero', (text: string) => text.replace('index 9', 'index 09')],
    ['a negative index', (text: string) => text.replace('index 9', 'index -9')],
    ['extra data that is not base64', (text: string) => text.replace('extra ', 'extra %')],
    ['a short hash', (text: string) => text.replace(/^index 9\n.*$/m, 'index 9\nAAAA')],
    ['no empty line', (text: string) => text.replaceAll('\n\n', '\n')],
  ])('with %s is malformed', (_, change) => {
    const text = formatProofFile({ index: 9, proof: tree.inclusion(9), checkpoint: note, extra: Buffer.from('ab') })
    expect(parseProofFile(text).index).toBe(9)
    expect(() => parseProofFile(change(text))).toThrow(expect.objectContaining({ code: 'MALFORMED' }))
  })
})
