import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatVkey } from '../../../../domain/log/proof/note.ts'
import { formatPolicy, hasQuorum, parsePolicy, type TrustPolicy } from '../../../../domain/log/proof/policy.ts'
import { cosigner, keyName, logSigner } from '../../../support/proof-keys.ts'
import { property } from '../../../support/property.ts'

const [logKey, keys] = [formatVkey(logSigner('log').key), [1, 2, 3, 4].map((n) => formatVkey(cosigner('w', n).key))]

const url = fc.option(
  fc.webUrl().filter((text) => text.isWellFormed()),
  { nil: undefined },
)
const word = keyName.filter((name) => name !== 'none' && !name.includes('\u007f'))

/** Policies with groups of witnesses and of groups; hostile names. */
const anyPolicy: fc.Arbitrary<TrustPolicy> = fc
  .record({
    logs: fc.array(fc.tuple(word, url), { maxLength: 3 }),
    names: fc.uniqueArray(word, { minLength: 1, maxLength: 8 }),
    split: fc.nat(),
    urls: fc.array(url, { minLength: 8, maxLength: 8 }),
    choices: fc.array(fc.nat(), { minLength: 8, maxLength: 8 }),
  })
  .map(({ logs, names, split, urls, choices }) => {
    const count = 1 + (split % names.length)
    const witnesses = names.slice(0, count).map((name, n) => ({
      ...{ name, key: cosigner(name, n + 1).key },
      ...(urls[n] !== undefined && { url: urls[n] }),
    }))
    const free = witnesses.map(({ name }) => name)
    const groups = names.slice(count).flatMap((name, n) => {
      if (free.length === 0) return []
      const members = free.splice(0, 1 + (choices[n]! % free.length))
      free.push(name)
      return [{ name, threshold: 1 + (choices[n + 1]! % members.length), members }]
    })
    return {
      logs: logs.map(([name, url], n) => ({ key: logSigner(name, n + 1).key, ...(url !== undefined && { url }) })),
      ...{ witnesses, groups, quorum: choices[0]! % 4 === 0 ? null : names.at(-1)! },
    }
  })
  .filter(
    ({ witnesses, groups, quorum }) => quorum === null || [...witnesses, ...groups].some((one) => one.name === quorum),
  )

describe('a policy', () => {
  test('survives its text, whatever its names', () => {
    fc.assert(
      fc.property(anyPolicy, (policy) => {
        expect(parsePolicy(formatPolicy(policy))).toEqual(policy)
      }),
      property(300),
    )
  })

  test('of an example of the specification is read, with comments, tabs and empty lines', () => {
    const lines = [
      `log ${logKey} https://log.example/`,
      ...['', '  # a comment', ...keys.slice(0, 3).map((key, n) => ` witness\tX${n + 1}  ${key}`)],
      ...[
        'group X 2 X1 X2 X3',
        `witness Y1 ${keys[3]} https://y.example`,
        'group Y any Y1',
        'group both all X Y',
        'quorum both',
      ],
    ]
    const policy = parsePolicy(lines.join('\n'))
    expect(policy.logs).toEqual([{ key: logSigner('log').key, url: 'https://log.example/' }])
    expect(policy.groups.map(({ name, threshold }) => [name, threshold])).toEqual([
      ['X', 2],
      ['Y', 1],
      ['both', 2],
    ])
    const signed = (...n: number[]) => n.map((one) => ({ key: cosigner('w', one).key, line: '', time: 1 }))
    expect(
      [signed(1, 2, 4), signed(1, 2), signed(1, 4), signed(1, 1, 4), signed(1, 2, 3)].map((of) =>
        hasQuorum(policy, of),
      ),
    ).toEqual([true, false, false, false, false])
    expect(hasQuorum({ ...policy, quorum: null }, [])).toBe(true)
    expect(hasQuorum({ ...policy, quorum: 'X2' }, signed(2))).toBe(true)
  })

  const witness = (name: string, n: number) => `witness ${name} ${keys[n]}`
  test.each([
    ['no quorum', '', 'add a line "quorum none"'],
    ['two quorums', 'quorum none\nquorum none', 'a second quorum'],
    ['an unknown quorum', 'quorum x', '"x" is not defined above'],
    ['a quorum before its definition', `quorum a\n${witness('a', 0)}`, 'is not defined above'],
    ['a name twice', `${witness('a', 0)}\n${witness('a', 1)}\nquorum none`, 'the name "a" is taken'],
    ['the name none', `${witness('none', 0)}\nquorum none`, 'is taken'],
    ['a key twice', `${witness('a', 0)}\n${witness('b', 0)}\nquorum none`, 'is there twice'],
    ['a log twice', `log ${logKey}\nlog ${logKey}\nquorum none`, 'is there twice'],
    ['a group of nobody', 'group g any\nquorum none', 'is not a log'],
    ['a group that needs too many', `${witness('a', 0)}\ngroup g 2 a\nquorum none`, 'from 1 to 1'],
    ['a group that needs none', `${witness('a', 0)}\ngroup g 0 a\nquorum none`, 'from 1 to 1'],
    ['a group with itself', 'group g any g\nquorum none', 'is not defined above'],
    ['a member twice', `${witness('a', 0)}\ngroup g 2 a a\nquorum none`, 'already in a group'],
    ['a member of two groups', `${witness('a', 0)}\ngroup g any a\ngroup h any a\nquorum none`, 'already in a group'],
    ['an unknown word', 'logs x\nquorum none', 'is not a log'],
    ['too many words', `log ${logKey} a b\nquorum none`, 'is not a log'],
    ['no key', 'log x\nquorum none', 'is not a verifier key'],
    ['a carriage return', 'quorum none\r\n', 'control characters'],
    ['a lone surrogate', '# \ud800\nquorum none', 'broken characters'],
  ])('with %s is refused', (_, text, message) => {
    expect(() => parsePolicy(text)).toThrow(message)
    expect(() => parsePolicy(text)).toThrow(expect.objectContaining({ code: 'MALFORMED' }))
  })

  test('is not written when its words would be read as others', () => {
    const policy: TrustPolicy = {
      logs: [],
      witnesses: [{ name: 'a', key: cosigner('w', 1).key }],
      groups: [],
      quorum: 'a',
    }
    expect(formatPolicy(policy)).toContain('quorum a\n')
    const renamed = (name: string): TrustPolicy => ({
      ...policy,
      witnesses: [{ ...policy.witnesses[0]!, name }],
      quorum: name,
    })
    for (const name of ['', 'a b', `a ${keys[1]}`, 'a\nquorum none', 'a\t'])
      expect(() => formatPolicy(renamed(name)), name).toThrow('is not one word')
    expect(() => formatPolicy(renamed('none'))).toThrow('is taken')
    expect(() => formatPolicy({ ...policy, quorum: 'b' })).toThrow('is not defined above')
  })
})
