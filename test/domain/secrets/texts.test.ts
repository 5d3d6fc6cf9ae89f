import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formsOf } from '../../../domain/secrets/forms.ts'
import { createRedactor, type Redactor, resolveReferences } from '../../../domain/secrets/redactor.ts'

if (process.env.FC_SEED) fc.configureGlobal({ seed: Number(process.env.FC_SEED) })

const key = new Uint8Array(32).fill(7)
const REFERENCE = /^secret:ku_[0-9a-z]{26}$/
const SHAPES: readonly [name: string, before: string, secret: string, after: string][] = [
  ['an AWS key', 'key ', 'AKIAIOSFODNN7EXAMPLE', ' ok'],
  ['an AWS secret', 'aws_secret_access_key = "', 'wJalrXUtnFEMIbK7MDENGbPxRfiCYzEXAMPLEKEY', '"'],
  ['a GitHub token', 'use ', `ghp_${'a1B2'.repeat(9)}`, ' now'],
  ['a fine-grained GitHub token', '', `github_pat_${'a1B2_'.repeat(8)}`, ''],
  ['a GitLab token', '', `glpat-${'a1B2-'.repeat(5)}`, ' '],
  ['an npm token', '', `npm_${'a1B2'.repeat(9)}`, ' '],
  ['a Google key', '', `AIza${'a1B2_'.repeat(7)}`, ' '],
  ['a Stripe key', '', `sk_live_${'a1B2'.repeat(5)}`, ' '],
  ['a Slack token', '', 'xoxb-123456789012-abcdefABCDEF', ' '],
  ['a Slack hook', 'https://hooks.slack.com/services/', 'T0001/B0001/abcdefABCDEF1234', ' '],
  ['an Anthropic key', '', 'sk-ant-api03-abcdefghijklmnop_QRST-1234', ' '],
  ['an old OpenAI key', '', `sk-${'a1B2'.repeat(12)}`, ' '],
  ['a JWT', '(', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U', ')'],
  ['a bearer token', 'Authorization: Bearer ', 'abcdefghijklm12345678.nopqrstuvw', '\n'],
  ['the password of a URL', 'postgres://app:', 'hunter22-hunter33', '@db/x'],
]
const PEM = `-----BEGIN RSA PRIVATE KEY-----\n${'MIIEowIBAAKCAQEA1234Bq7zXW9aPqLmN0bVcXyZ\n'.repeat(4)}uQ7b==\n-----END RSA PRIVATE KEY-----`

/** Cuts a text at the given shares of its length. */
const cutAt = (text: string, cuts: readonly number[]): string[] => {
  const at = [0, ...cuts.map((cut) => Math.floor(cut * text.length)), text.length].sort((a, b) => a - b)
  return at.slice(1).map((end, i) => text.slice(at[i], end))
}
const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 })

/** What is shown after each text, and what is held back at the end. */
function shownOf(redactor: Redactor, texts: readonly string[]) {
  const filter = redactor.redactTexts()
  const ready = texts.map((text) => filter.push(text))
  const rest = filter.end()
  const references = filter.taken()
  const all = [...ready.flat(), ...rest].filter((text) => text !== '')
  return { ready, rest, all, resolved: (text: string) => resolveReferences(text, (one) => references.get(one) ?? null) }
}

const leaks = (shown: string, secret: string, most: number): boolean =>
  Array.from({ length: secret.length - most }, (_, i) => secret.slice(i, i + most + 1)).some((one) =>
    shown.includes(one),
  )

describe('texts that are shown one by one', () => {
  const value = fc.string({ unit: fc.constantFrom(...'abcXYZ019-_/+é '), minLength: 8, maxLength: 40 })
  const known = fc.array(
    value.map((text) => `${text}Q7`).filter((text) => text.trim() !== ''),
    { minLength: 1, maxLength: 3 },
  )
  const scene = known.chain((secrets) =>
    fc.record({
      secrets: fc.constant(secrets),
      text: fc
        .array(
          fc.oneof(
            fc.lorem({ maxCount: 4 }),
            fc.string(),
            fc.constantFrom(...SHAPES.map(([, before, secret, after]) => before + secret + after), PEM),
            fc.constantFrom(...secrets.flatMap(formsOf)),
          ),
          { maxLength: 8 },
        )
        .map((parts) => parts.join('')),
      cuts,
    }),
  )

  it('show no form of a known secret, however the text is split', () => {
    fc.assert(
      fc.property(scene, ({ secrets, text, cuts: at }) => {
        const { all } = shownOf(createRedactor({ key, known: secrets }), cutAt(text, at))
        for (const form of secrets.flatMap(formsOf)) if (form.length >= 8) expect(all.join('')).not.toContain(form)
      }),
      { numRuns: 500 },
    )
  })

  it('are the very texts once their references are resolved, and none joins two', () => {
    fc.assert(
      fc.property(scene, ({ secrets, text, cuts: at }) => {
        const texts = cutAt(text, at)
        const { all, resolved } = shownOf(createRedactor({ key, known: secrets }), texts)
        expect(all.map(resolved).join('')).toBe(text)
        const ends = texts.map((_, i) => texts.slice(0, i).join('').length)
        let start = 0
        for (const one of all) {
          const end = start + resolved(one).length
          const crossed = ends.some((cut) => start < cut && cut < end)
          if (crossed) expect(one).toMatch(REFERENCE)
          start = end
        }
      }),
      { numRuns: 500 },
    )
  })

  it('are shown at once and whole where they begin no secret', () => {
    const redactor = createRedactor({ key, known: ['correct-horse-battery', 'hunter22'] })
    const sentence = fc.constantFrom(
      ...[
        'Hello.',
        'World.',
        'The server runs on http://localhost:3000',
        'Use the bearer of',
        ' words ',
        '\n',
        'c',
        'cor',
      ],
      ...[
        'wait for it',
        'See https://example.org/a:b',
        '```ts\nconst sk = 1\n```',
        'task-force',
        'h',
        '🎉',
        '{"a":"b"}',
      ],
    )
    fc.assert(
      fc.property(fc.array(sentence, { maxLength: 20 }), (texts) => {
        // Two of them together may begin a secret.
        const filter = redactor.redactTexts()
        for (const text of texts) {
          expect(filter.push(text)).toEqual([text])
          filter.end()
          filter.push(' ')
        }
      }),
    )
  })

  it.each(SHAPES)('show no more than the mark of %s that is split', (_, before, secret, after) => {
    fc.assert(
      fc.property(cuts, (at) => {
        const { all } = shownOf(createRedactor({ key, known: [] }), cutAt(before + secret + after, at))
        expect(all.join('').startsWith(before)).toBe(true)
        expect(leaks(all.join(''), secret.replace('github_pat_', ''), 8)).toBe(false)
      }),
      { numRuns: 200 },
    )
  })

  it('show nothing of a private key that is split', () => {
    fc.assert(
      fc.property(cuts, (at) => {
        const { all } = shownOf(createRedactor({ key, known: [] }), cutAt(`a ${PEM} b`, at))
        expect(leaks(all.join(''), PEM, 12)).toBe(false)
        expect(all.join('')).toMatch(/^a .* b$/s)
      }),
      // Behind the end of a line, and behind a few characters of the next one.
      { numRuns: 200, examples: [[[0.6653]], [[0.3178]]] },
    )
  })

  it('hold back only the beginning of a secret, and show a secret that spans texts as a text of its own', () => {
    const filter = createRedactor({ key, known: ['correct horse'] }).redactTexts()
    expect(filter.push('we say corr')).toEqual(['we say '])
    expect(filter.push('ectly, and ')).toEqual(['corr', 'ectly, and '])
    expect(filter.push('so: correct')).toEqual(['so: '])
    expect(filter.push(' hor')).toEqual([''])
    expect(filter.push('se!')).toEqual([expect.stringMatching(REFERENCE), '!'])
    expect([...filter.taken().values()]).toEqual(['correct horse'])
    expect(filter.push('correct horse')).toEqual([expect.stringMatching(REFERENCE)])
    expect(filter.end()).toEqual([])
  })

  it('hide the rest of a secret that another event interrupts, and the most of its beginning', () => {
    const secret = 'correct-horse-battery'
    for (let cut = 1; cut < secret.length; cut++) {
      const filter = createRedactor({ key, known: [secret] }).redactTexts()
      const shown = [...filter.push(`x ${secret.slice(0, cut)}`), ...filter.end(), ...filter.push(secret.slice(cut))]
      expect(leaks(shown.join(''), secret, 15)).toBe(false)
    }
  })

  it('recognise a token that begins a text behind a word', () => {
    const filter = createRedactor({ key, known: [] }).redactTexts()
    const token = `ghp_${'a1B2'.repeat(9)}`
    expect(filter.push('Done')).toEqual(['Done'])
    expect(filter.push(token)).toEqual([expect.stringMatching(REFERENCE)])
  })

  it('hold back the last line where patterns are searched for', () => {
    const filter = createRedactor({ key, known: [], patterns: ['ticket [0-9]+'] }).redactTexts()
    expect(filter.push('one\nand tick')).toEqual(['one\n'])
    expect(filter.push('et 77 is\n')).toEqual(['and ', expect.stringMatching(REFERENCE), ' is\n'])
  })
})
