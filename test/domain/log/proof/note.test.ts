import { generateKeyPairSync, sign } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  COSIGNATURE,
  ED25519,
  formatNote,
  formatSecretKey,
  formatVkey,
  isKeyName,
  noteSigner,
  openNote,
  parseSecretKey,
  parseVkey,
  signatureLine,
  splitNote,
} from '../../../../domain/log/proof/note.ts'
import { flipped } from '../../../support/merkle.ts'
import { property } from '../../../support/property.ts'

const seed = fc.uint8Array({ minLength: 32, maxLength: 32 })
const type = fc.constantFrom<typeof ED25519 | typeof COSIGNATURE>(ED25519, COSIGNATURE)
const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }).filter(isKeyName)
/** Text of a note, also with empty lines, dashes and astral characters. */
const text = fc
  .array(fc.oneof(fc.string({ unit: 'binary', maxLength: 12 }), fc.constantFrom('', '\n', '\n\n', '— a b', '\u2028')))
  .map((parts) => `${parts.join('').replace(/[\u0000-\u0009\u000b-\u001f]/g, '')}\n`)
const time = fc.nat()

describe('known notes', () => {
  test.each([
    [
      'the example of C2SP',
      'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k',
      'This is an example message.\n',
      '— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n',
    ],
    [
      'a checkpoint whose seed is 32 bytes 4f',
      'keepup.example/log/8m3k+e3909f09+AQDjxWuRqwoBcXS5ZkXq+Sg2bNuuHof9Ib+GZh2G8+fv',
      'keepup.example/log/8m3k\n1000\nY4r6mAIpJbrP3a2xXvIv0BmcGsmcKXO2FYJD0T/OBcI=\n',
      '— keepup.example/log/8m3k 45CfCYd+PVMRI3mG+c4po3BeUjVJ4ABA8yflOJkcKD6gNrKR7eUYN8pwYoJwig/Uhl3cTleO+pvn6hH1vOrT2juqtwo=\n',
    ],
    [
      "the example of Go's package note",
      'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
      "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n",
      '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n',
    ],
  ])('%s opens', (_, vkey, words, line) => {
    const key = parseVkey(vkey)
    expect(formatVkey(key)).toBe(vkey)
    expect(openNote(formatNote(words, [line]), [key])).toEqual({ text: words, signatures: [{ key, line, time: null }] })
  })

  test('are made by their secret keys, byte for byte', () => {
    const go = parseSecretKey('PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz')
    expect(formatVkey(go.key)).toBe('PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW')
    const words =
      "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
    expect(signatureLine(go, words)).toContain(' x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZ')
    const log = noteSigner('keepup.example/log/8m3k', Buffer.alloc(32, 0x4f), ED25519)
    const checkpoint = 'keepup.example/log/8m3k\n1000\nY4r6mAIpJbrP3a2xXvIv0BmcGsmcKXO2FYJD0T/OBcI=\n'
    expect(signatureLine(log, checkpoint)).toContain(' 45CfCYd+PVMRI3mG+c4po3BeUjVJ4ABA8yflOJkcKD6gNrKR7eUYN8pwYo')
  })

  test.each([
    [
      '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
      'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    ],
    [
      '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
      '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    ],
  ])('the key of seed %s is that of RFC 8032', (secret, publicKey) => {
    const { key } = noteSigner('a', Buffer.from(secret, 'hex'), ED25519)
    expect(Buffer.from(key.publicKey).toString('hex')).toBe(publicKey)
  })
})

describe('a note', () => {
  test('opens with the keys that signed it, whatever its text, and names them with their times', () => {
    fc.assert(
      fc.property(
        text,
        fc.uniqueArray(fc.tuple(name, type, seed), { minLength: 1, maxLength: 4 }),
        time,
        (words, of, at) => {
          const signers = of.map(([name, type, seed]) => noteSigner(name, seed, type))
          const times = signers.map(({ key }) => (key.type === COSIGNATURE ? at : null))
          const lines = signers.map((signer, n) => signatureLine(signer, words, times[n]))
          const opened = openNote(formatNote(words, lines), [
            signers[0]!.key,
            ...signers.slice(1).map(({ key }) => key),
          ])
          expect(opened.text).toBe(words)
          expect(new Set(opened.signatures.map(({ line }) => line))).toEqual(new Set(lines))
          expect(opened.signatures.map((one) => one.time)).toEqual(expect.arrayContaining([...new Set(times)]))
        },
      ),
      property(100),
    )
  })

  test('with one changed bit of its text or signature is refused', () => {
    fc.assert(
      fc.property(text, name, type, seed, fc.nat(), fc.boolean(), (words, name, type, seed, bit, inText) => {
        const signer = noteSigner(name, seed, type)
        const line = signatureLine(signer, words, type === COSIGNATURE ? 1 : null)
        const encoded = line.trimEnd().split(' ')[2]!
        const raw = Buffer.from(encoded, 'base64')
        // The first four bytes are the id of the key: another id is that of an unknown key.
        const wrong = inText
          ? formatNote(`${bit}${words}`, [line])
          : formatNote(words, [line.replace(encoded, Buffer.from(flipped(raw, bit)).toString('base64'))])
        expect(() => openNote(wrong, [signer.key])).toThrow(/ is wrong; the text was altered|no known key signed/)
      }),
      property(200),
    )
  })

  const [ours, other] = [1, 2].map((n) => noteSigner('a.example', Buffer.alloc(32, n), ED25519)) as [
    ReturnType<typeof noteSigner>,
    ReturnType<typeof noteSigner>,
  ]
  const words = 'text\n'

  test('ignores unknown keys, is refused when one known key is wrong, or none is known', () => {
    const [right, unknown, wrong] = [
      signatureLine(ours, words),
      signatureLine(other, words),
      signatureLine(ours, 'x\n'),
    ]
    expect(openNote(formatNote(words, [unknown, right]), [ours.key]).signatures).toHaveLength(1)
    expect(() => openNote(formatNote(words, [right, wrong]), [ours.key])).toThrow(
      expect.objectContaining({ code: 'SIGNATURE_WRONG' }),
    )
    expect(() => openNote(formatNote(words, [unknown]), [ours.key])).toThrow(
      expect.objectContaining({ code: 'SIGNATURE_MISSING' }),
    )
    // A key of the type of ML-DSA verifies nothing.
    const future = parseVkey('a.example+00112233+BgAA')
    const line = `— a.example ${Buffer.from('00112233aabb', 'hex').toString('base64')}\n`
    expect(() => openNote(formatNote(words, [line]), [future])).toThrow('no known key signed the note')
    expect(openNote(formatNote(words, [line, right]), [future, ours.key]).signatures).toHaveLength(1)
  })

  test('has at most 100 signatures, 16 or more of them unknown', () => {
    const many = (count: number) =>
      formatNote(words, [...Array(count).fill(signatureLine(other, words)), signatureLine(ours, words)])
    expect(openNote(many(99), [ours.key]).signatures).toHaveLength(1)
    expect(() => openNote(many(100), [ours.key])).toThrow('more than 100 signatures')
  })

  test.each([
    ['no final newline', (note: string) => note.slice(0, -1)],
    ['no empty line', (note: string) => note.replace('\n\n', '\n')],
    ['no signature', () => 'text\n\n'],
    ['a control character', (note: string) => note.replace('text', 'te\txt')],
    ['a carriage return', (note: string) => note.replaceAll('\n', '\r\n')],
    ['a lone surrogate', (note: string) => note.replace('text', '\ud800')],
    ['a hyphen for a dash', (note: string) => note.replace('—', '-')],
    ['two spaces', (note: string) => note.replace('— ', '—  ')],
    ['base64 without padding', (note: string) => note.replace('=', '')],
    ['base64 of an alphabet for URLs', (note: string) => note.replace(/\S+\n$/, '_-AAAAAA\n')],
    ['a signature of four bytes', (note: string) => note.replace(/\S+\n$/, 'AAAAAA==\n')],
  ])('with %s is malformed', (_, change) => {
    const note = formatNote(words, [signatureLine(ours, words)])
    expect(openNote(note, [ours.key]).text).toBe(words)
    expect(() => openNote(change(note), [ours.key])).toThrow(expect.objectContaining({ code: 'MALFORMED' }))
    expect(() => splitNote(change(note)) && openNote(change(note), [ours.key])).toThrow('; fetch the file again')
  })

  test('is not signed when its text could not be read again', () => {
    for (const wrong of ['', 'text', 'a\tb\n', '\ud800\n', 'a\r\n'])
      expect(() => signatureLine(ours, wrong), JSON.stringify(wrong)).toThrow(
        expect.objectContaining({ code: 'MALFORMED' }),
      )
    expect(() => signatureLine(ours, words, 1)).toThrow(TypeError)
    expect(() => signatureLine(noteSigner('w', Buffer.alloc(32), COSIGNATURE), words)).toThrow(TypeError)
  })

  test('keeps signatures and cosignatures of one key apart', () => {
    const cosigner = noteSigner('a.example', ours.seed, COSIGNATURE)
    expect(cosigner.key.id).not.toBe(ours.key.id)
    // A plain signature under the id of a cosigner does not verify.
    const raw = Buffer.concat([
      Buffer.from(cosigner.key.id, 'hex'),
      Buffer.alloc(8),
      sign(null, Buffer.from(words), ours.privateKey),
    ])
    expect(() => openNote(formatNote(words, [`— a.example ${raw.toString('base64')}\n`]), [cosigner.key])).toThrow(
      'is wrong',
    )
  })
})

describe('a key', () => {
  test('and its secret survive their text, whatever the name', () => {
    fc.assert(
      fc.property(name, type, seed, (name, type, seed) => {
        const signer = noteSigner(name, seed, type)
        expect(parseVkey(formatVkey(signer.key))).toEqual(signer.key)
        const { key, seed: again } = parseSecretKey(formatSecretKey(signer))
        expect([key, Buffer.from(again)]).toEqual([signer.key, Buffer.from(seed)])
      }),
      property(200),
    )
  })

  test('is refused when a character of its text is changed', () => {
    const vkey = formatVkey(noteSigner('a.example', Buffer.alloc(32, 7), ED25519).key)
    for (let at = 0; at < vkey.length; at++) {
      if (vkey[at] === '=') continue
      const wrong = `${vkey.slice(0, at)}${vkey[at] === 'B' ? 'D' : 'B'}${vkey.slice(at + 1)}`
      // The type of a key may be an unknown one.
      const parsed = (() => {
        try {
          return parseVkey(wrong).type
        } catch {
          return null
        }
      })()
      expect(parsed === null || ![ED25519, COSIGNATURE].includes(parsed), wrong).toBe(true)
    }
  })

  test('has a name without spaces and plus signs', () => {
    for (const wrong of ['', 'a b', 'a+b', 'a\n', 'a\u00a0', '\u2028', 'a\u0085', '\ud800'])
      expect(() => noteSigner(wrong, Buffer.alloc(32), ED25519), JSON.stringify(wrong)).toThrow('cannot name a key')
    expect(isKeyName('\ufeffa')).toBe(true)
  })

  test('of a secret text that is wrong does not appear in the message', () => {
    const secret = formatSecretKey(noteSigner('a.example', Buffer.alloc(32, 7), ED25519))
    for (const wrong of [secret.slice(0, -4), secret.replace('a.ex', 'b.ex'), secret.slice(1), `${secret} `]) {
      expect(() => parseSecretKey(wrong)).toThrow(expect.objectContaining({ code: 'MALFORMED' }))
      expect(() => parseSecretKey(wrong)).toThrow(expect.not.stringContaining('BwcHBw'))
    }
  })

  test('of node:crypto signs what the verifier opens', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(16)
    const { key } = noteSigner('n', seed, ED25519)
    expect(Buffer.from(key.publicKey)).toEqual(publicKey.export({ format: 'der', type: 'spki' }).subarray(12))
  })
})
