import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkTimestamp, timestampRequest } from '../../../../domain/log/proof/timestamp.ts'
import { flipped } from '../../../support/merkle.ts'
import { property } from '../../../support/property.ts'

const hash = Buffer.alloc(32, 9)
const nonce = Buffer.from('8100000000000000ff', 'hex')

test('a request has 70 bytes and a positive nonce', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 9, maxLength: 9 }), (nonce) => {
      const bytes = Buffer.from(timestampRequest(hash, nonce))
      expect(bytes).toHaveLength(70)
      expect(bytes.subarray(24, 56)).toEqual(hash)
      expect(bytes[58]).toBeGreaterThan(0)
      expect(bytes[58]).toBeLessThan(0x80)
      expect(bytes.subarray(59, 67)).toEqual(Buffer.from(nonce.subarray(1)))
    }),
    property(100),
  )
  expect(() => timestampRequest(hash.subarray(1), nonce)).toThrow('pass these sizes')
})

test('an answer that refuses, or is none, says so', () => {
  // PKIStatusInfo { status rejection (2), statusString { "A" } }
  const refused = Buffer.from('300a300802010230030c0141', 'hex')
  expect(() => checkTimestamp(refused, hash, nonce)).toThrow(/refused the request \(status 2\); ask another one/)
  for (const wrong of ['', '30', '3000', '30820003', '<html>', '3003020100', '30053003020100ff'])
    expect(() => checkTimestamp(Buffer.from(wrong, wrong[0] === '<' ? 'utf8' : 'hex'), hash, nonce), wrong).toThrow(
      expect.objectContaining({ code: 'MALFORMED' }),
    )
})

describe('an authority of openssl', { tags: ['openssl'] }, () => {
  let folder: string
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' })
  const data = 'the checkpoint\n'
  const stamped = createHash('sha256').update(data).digest()

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'keepup-tsa-'))
    writeFileSync(join(folder, 'checkpoint'), data)
    writeFileSync(join(folder, 'serial'), '01\n')
    writeFileSync(
      join(folder, 'tsa.cnf'),
      [
        '[req]\ndistinguished_name = dn\nx509_extensions = tsa\nprompt = no\n[dn]\nCN = tsa\n[tsa]\nextendedKeyUsage = critical,timeStamping',
        '[t]\nserial = serial\nsigner_cert = cert.pem\nsigner_key = key.pem\nsigner_digest = sha256\ndefault_policy = 1.2.3.4',
        'digests = sha256, sha512\nessess_cert_id_alg = sha256\n',
      ].join('\n'),
    )
    openssl(
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
      ...['-config', 'tsa.cnf', '-keyout', 'key.pem', '-out', 'cert.pem'],
    )
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  const stamp = (request: Uint8Array): Buffer => {
    writeFileSync(join(folder, 'request.tsq'), request)
    openssl(
      'ts',
      '-reply',
      '-config',
      'tsa.cnf',
      '-section',
      't',
      '-queryfile',
      'request.tsq',
      '-out',
      'checkpoint.tsr',
    )
    return readFileSync(join(folder, 'checkpoint.tsr'))
  }

  test('understands our request, and its answer is checked by us and by openssl', () => {
    const answer = stamp(timestampRequest(stamped, nonce))
    expect(openssl('ts', '-query', '-in', 'request.tsq', '-text')).toMatch(
      /Hash Algorithm: sha256[\s\S]*Nonce: 0x01000/,
    )
    checkTimestamp(answer, stamped, nonce)
    expect(
      openssl('ts', '-verify', '-data', 'checkpoint', '-in', 'checkpoint.tsr', '-CAfile', 'cert.pem', '-partial_chain'),
    ).toContain('Verification: OK')
    expect(() => checkTimestamp(answer, flipped(stamped, 3), nonce)).toThrow('another hash than the request')
    expect(() => checkTimestamp(answer, stamped, flipped(nonce, 70))).toThrow('another nonce than the request')
    expect(() => checkTimestamp(answer.subarray(0, -1), stamped, nonce)).toThrow('cut off')
    expect(() => checkTimestamp(Buffer.concat([answer, Buffer.of(0)]), stamped, nonce)).toThrow('is not a time stamp')
  })

  test('refuses a broken request, and we say so', () => {
    const broken = timestampRequest(stamped, nonce)
    broken[4] = 9
    const refusal = stamp(broken)
    expect(() => checkTimestamp(refusal, stamped, nonce)).toThrow('refused the request')
  })
})
