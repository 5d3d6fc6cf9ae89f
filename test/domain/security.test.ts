import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../domain/log/json.ts'
import { formsOf } from '../../domain/secrets/forms.ts'
import { createRedactor, reference, resolveBytes, resolveReferences } from '../../domain/secrets/redactor.ts'

if (process.env.FC_SEED) fc.configureGlobal({ seed: Number(process.env.FC_SEED) })

const key = new Uint8Array(32).fill(7)
const secretValue = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 6, maxLength: 40 }),
  fc.string({ minLength: 6, maxLength: 40 }),
  fc.base64String({ minLength: 8, maxLength: 60 }),
  fc.constantFrom('p@ss w/rd+100%"\\\n', 'aXaXaXaX', 'ключ-от-квартиры', "it's (me)!*~"),
)
// A value in the reference's own alphabet may appear in a reference by chance; one with an upper-case letter cannot.
const hideable = secretValue.map((s) => `${s}Q7`).filter((s) => s.isWellFormed() && s.trim() !== '')
const prose = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(' ', '\n', 'Bearer ', 'token=', '"', '://u:', '@', 'eyJ', '-----BEGIN RSA PRIVATE KEY-----\n'),
  fc.constantFrom(
    `ghp_${'a1B2'.repeat(9)}`,
    `Bearer ${'x9'.repeat(10)}`,
    `AKIA${'Z2'.repeat(8)}`,
    'postgres://u:pw123@h',
  ),
)
/** Secrets, and texts in which they stand in some form among prose. */
const scene = fc.array(hideable, { minLength: 1, maxLength: 4 }).chain((secrets) =>
  fc.record({
    secrets: fc.constant(secrets),
    text: fc
      .array(fc.oneof(prose, fc.constantFrom(...secrets.flatMap(formsOf))), { maxLength: 12 })
      .map((parts) => parts.join('')),
  }),
)
const all = (references: ReadonlyMap<string, string>) => (ref: string) => references.get(ref) ?? null

describe('redaction of text', () => {
  it('leaves no known value in any form', () => {
    fc.assert(
      fc.property(scene, ({ secrets, text }) => {
        const out = createRedactor({ key, known: secrets }).redactText(text).value
        for (const form of secrets.flatMap(formsOf)) if (form.length >= 8) expect(out).not.toContain(form)
      }),
    )
  })

  it('finds a value however it was encoded', () => {
    const around = fc.uint8Array({ maxLength: 5 })
    const encoded = (secret: string, before: Uint8Array, after: Uint8Array): [string, string][] => {
      const bytes = Buffer.concat([before, Buffer.from(secret), after])
      const from = Math.ceil((before.length * 4) / 3)
      const to = Math.floor(((before.length + Buffer.byteLength(secret)) * 4) / 3)
      const base64 = (['base64', 'base64url'] as const).map((e) => bytes.toString(e))
      return [
        ...base64.map((text): [string, string] => [text, text.slice(from, to)]),
        [bytes.toString('hex'), Buffer.from(secret).toString('hex')],
        [encodeURIComponent(`a b${secret}`), encodeURIComponent(secret)],
        [new URLSearchParams({ q: secret }).toString(), new URLSearchParams({ q: secret }).toString().slice(2)],
        [JSON.stringify([`x${secret}`]), JSON.stringify(secret).slice(1, -1)],
      ]
    }
    fc.assert(
      fc.property(hideable, around, around, (secret, before, after) => {
        const { redactText } = createRedactor({ key, known: [secret] })
        for (const [text, hidden] of encoded(secret, before, after)) {
          expect(text).toContain(hidden)
          expect(redactText(text).value).not.toContain(hidden)
        }
      }),
    )
  })

  it('is idempotent, and resolving gives back the very text', () => {
    fc.assert(
      fc.property(scene, ({ secrets, text }) => {
        const redactor = createRedactor({ key, known: secrets, patterns: ['tok[a-z]*=\\w+', '\\bx\\d+\\b'] })
        const once = redactor.redactText(text)
        const twice = redactor.redactText(once.value)
        expect(twice.value).toBe(once.value)
        expect(twice.references.size).toBe(0)
        expect(resolveReferences(once.value, all(once.references))).toBe(text)
      }),
    )
  })

  it('gives the same through a stream, however it is cut', () => {
    fc.assert(
      fc.property(scene, fc.array(fc.nat(12), { maxLength: 40 }), ({ secrets, text }, cuts) => {
        const redactor = createRedactor({ key, known: secrets })
        const stream = redactor.redactStream()
        let at = 0
        let out = ''
        for (const length of cuts) {
          out += stream.push(text.slice(at, at + length))
          at += length
        }
        out += stream.push(text.slice(at)) + stream.end()
        expect(out).toBe(redactor.redactText(text).value)
      }),
      { numRuns: 300 },
    )
  })

  it('holds back in a stream no more than may become a secret', () => {
    const stream = createRedactor({ key, known: ['correct horse'] }).redactStream()
    expect(stream.push('we say corr')).toBe('we say ')
    expect(stream.push('ectly and ')).toBe('correctly and ')
    expect(stream.push('correct horse ')).toMatch(/^secret:ku_[0-9a-z]{26} $/)
    expect([...stream.taken().values()]).toEqual(['correct horse'])
    expect(stream.taken().size).toBe(0)
  })

  it.each([
    ['AWS', 'AKIAIOSFODNN7EXAMPLE'],
    ['GitHub', `ghp_${'a1B2'.repeat(9)}`],
    ['GitHub fine-grained', `github_pat_${'a1B2_'.repeat(8)}`],
    ['Slack', 'xoxb-123456789012-abcdefABCDEF'],
    ['Anthropic', 'sk-ant-api03-abcdefghijklmnop_QRST-1234'],
    ['OpenAI', 'sk-proj-abcdefghijklmnopQRST1234'],
    ['OpenAI, old', `sk-${'a1B2'.repeat(12)}`],
    ['JWT', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U'],
    [
      'private key',
      `-----BEGIN RSA PRIVATE KEY-----\n${'MIIEowIBAAKCAQEA1234\n'.repeat(5)}-----END RSA PRIVATE KEY-----`,
    ],
    ['private key cut off', `-----BEGIN PRIVATE KEY-----\n${'A1b2'.repeat(16)}\n${'A1b2'.repeat(16)}`],
  ])('recognises %s', (_name, secret) => {
    const { value, references } = createRedactor({ key, known: [] }).redactText(`x ${secret} y`)
    expect(value).toBe(`x ${reference(key, secret)} y`)
    expect([...references]).toEqual([[reference(key, secret), secret]])
  })

  it('hides the token of a bearer header and the password of a URL, and nothing around them', () => {
    const { redactText } = createRedactor({ key, known: [] })
    expect(redactText('Authorization: Bearer abcdef1234567890').value).toBe(
      `Authorization: Bearer ${reference(key, 'abcdef1234567890')}`,
    )
    expect(redactText('postgres://app:hunter22@db/x').value).toBe(`postgres://app:${reference(key, 'hunter22')}@db/x`)
  })

  it.each([
    'bearer authentication is described here',
    "text.startsWith('-----BEGIN PRIVATE KEY-----') && text.endsWith('-----END PRIVATE KEY-----')",
    'sk-fading-circle and the task-force-of-the-long-name-that-goes-on-and-on',
    'https://example.org:8080/path?a=b&token=1',
  ])('leaves ordinary text alone: %s', (text) => {
    expect(createRedactor({ key, known: [] }).redactText(text)).toEqual({ value: text, references: new Map() })
  })

  it('takes time linear in the text, also for texts made to be slow', () => {
    const redactor = createRedactor({ key, known: ['aaaaaaaaaaab', 'eyJeyJ'], patterns: ['(a|a)*b', '(x+x+)+y'] })
    // The processor's time: what others of the machine take of it is not counted.
    const before = process.cpuUsage()
    for (const unit of [
      'a',
      'eyJ',
      'x',
      'bearer ',
      'sk-ant-',
      '://',
      '-----BEGIN PRIVATE KEY-----',
      '"',
      'secret:ku_',
    ]) {
      const text = unit.repeat(Math.ceil(200_000 / unit.length))
      expect(redactor.redactText(text).value.length).toBeGreaterThan(0)
    }
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1_000_000).toBeLessThan(20)
  })
})

describe('redaction of JSON', () => {
  const redactor = createRedactor({ key, known: ['k12345678'] })

  it('hides non-blank strings under the closed list of key names only', () => {
    const input = { Api_Key: 'abc', 'set-cookie': 'c=1', token: '  ', tokens: 'free', note: 'password', password: 5 }
    expect(redactor.redactJson(input).value).toEqual({
      ...input,
      Api_Key: reference(key, 'abc'),
      'set-cookie': reference(key, 'c=1'),
    })
  })

  it('hides known values in keys, numbers and nested values', () => {
    const value = redactor.redactJson({ k12345678: [{ a: 'x k12345678' }] }).value
    const ref = reference(key, 'k12345678')
    expect(value).toEqual({ [ref]: [{ a: `x ${ref}` }] })
    expect(createRedactor({ key, known: ['12345678'] }).redactJson(12345678).value).toBe(reference(key, '12345678'))
  })

  it('looks into results that are JSON as a whole, and keeps their layout', () => {
    const text = '{\n  "user": "ann", "password" : "hun\\"ter2",\n "n": 1.0 }'
    const shown = redactor.redactResult({ stdout: text, note: '"password": "plain"' })
    expect(shown.value).toEqual({
      stdout: `{\n  "user": "ann", "password" : "${reference(key, 'hun"ter2')}",\n "n": 1.0 }`,
      note: '"password": "plain"',
    })
    expect(redactor.redactText(text).value).toBe(text)
    expect(redactor.redactResult(shown.value).value).toEqual(shown.value)
  })

  it("counts set_context's value as standing under its key", () => {
    const args = { key: 'api-key', value: 'abc' }
    expect(redactor.redactArguments('set_context', args).value).toEqual({ ...args, value: reference(key, 'abc') })
    expect(redactor.redactArguments('write_file', args).value).toEqual(args)
  })

  it('is idempotent and resolvable for any JSON', () => {
    const keys = fc.constantFrom('password', 'access_token', 'a', '__proto__', 'k12345678')
    const leaf = fc.oneof(
      fc.string(),
      fc.constantFrom('k12345678', '{"token":"x"}', `sk-${'a1'.repeat(20)}`),
      fc.integer(),
    )
    const { json } = fc.letrec((tie) => ({
      json: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie('json')), fc.dictionary(keys, tie('json'))),
    }))
    fc.assert(
      fc.property(json as fc.Arbitrary<Json>, (value) => {
        const once = redactor.redactResult(value)
        expect(redactor.redactResult(once.value).value).toEqual(once.value)
        expect(JSON.stringify(once.value)).not.toContain('k12345678')
        expect(JSON.stringify(resolveReferences(once.value, all(once.references)))).toBe(JSON.stringify(value))
      }),
    )
  })
})

describe('redaction of bytes', () => {
  it('gives back the same bytes, and hides known values in text and binary', () => {
    const parts = fc.oneof(
      fc.uint8Array({ maxLength: 20 }),
      hideable.map((s) => new TextEncoder().encode(s)),
    )
    fc.assert(
      fc.property(hideable, fc.array(parts, { maxLength: 8 }), (secret, chunks) => {
        const bytes = Buffer.concat([...chunks, Buffer.from(secret), ...chunks])
        const { value, references } = createRedactor({ key, known: [secret] }).redactBytes(bytes)
        expect(Buffer.from(value).includes(Buffer.from(secret))).toBe(false)
        expect(Buffer.from(resolveBytes(value, all(references))).equals(bytes)).toBe(true)
      }),
    )
  })

  it('returns the very object where there is nothing to hide', () => {
    const bytes = new Uint8Array([0, 255, 13, 10])
    expect(createRedactor({ key, known: [] }).redactBytes(bytes).value).toBe(bytes)
  })
})

describe('references', () => {
  it('are equal for equal values under one key, and different under another', () => {
    expect(reference(key, 'v')).toMatch(/^secret:ku_[0-9a-hjkmnp-tv-z]{26}$/)
    expect(reference(key, 'v')).toBe(reference(key, 'v'))
    expect(reference(new Uint8Array(32), 'v')).not.toBe(reference(key, 'v'))
  })

  it('are resolved wherever they stand, also right before other characters', () => {
    const ref = reference(key, 'v')
    const resolved = resolveReferences({ [ref]: [`a${ref}b`, { c: ref }], d: 'secret:ku_short' }, () => 'v')
    expect(resolved).toEqual({ v: ['avb', { c: 'v' }], d: 'secret:ku_short' })
  })

  it('without a known value end in SECRET_UNAVAILABLE, before any effect', () => {
    const failing = () => resolveReferences({ a: reference(key, 'v') }, () => null)
    expect(failing).toThrowError(expect.objectContaining({ code: 'SECRET_UNAVAILABLE', beforeEffect: true }))
  })
})

describe('createRedactor', () => {
  it('refuses what it cannot hide, and ignores blank values', () => {
    expect(() => createRedactor({ key, known: ['abc'] })).toThrow(/shorter than 4/)
    expect(() => createRedactor({ key: new Uint8Array(5), known: [] })).toThrow(/32 bytes/)
    expect(() => createRedactor({ key, known: [], patterns: ['(?=x)'] })).toThrow(/look-around/)
    expect(createRedactor({ key, known: ['', '   '] }).redactText('a   b').value).toBe('a   b')
  })
})
