import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LAWS, ROWS, RULES } from './conformance.ts'
import { drop, edited, replace } from './support/mutations/edits.ts'
import { mutated, runMutated } from './support/mutations/mutation.ts'

const root = join(import.meta.dirname, '..')
const musts = (section: string, count: number) => Array.from({ length: count }, (_, i) => `${section}.${i + 1}`)

/** The numbered requirements of the specification. */
const MUSTS = [
  ...[4, 4, 4, 4, 4, 3, 4, 4, 3, 4, 4, 5].flatMap((count, i) => musts(`5.${i + 1}`, count)),
  '6',
  ...musts('7', 4),
  ...musts('8', 4),
  ...musts('10', 6),
  ...musts('11', 4),
]

test('every MUST has a row: tests that hold it', () => {
  expect(ROWS.map(({ must }) => must)).toEqual(MUSTS)
})

const all = [...ROWS, ...LAWS, ...RULES]

test.each(all.map((row) => [row.says, row] as const))('%s: its tests are there', (_, { test: file, name }) => {
  expect(existsSync(join(root, file)), file).toBe(true)
  if (name !== undefined) expect(readFileSync(join(root, file), 'utf8')).toContain(name)
})

test('every rule can still be switched off: its function has the part that the row changes', () => {
  const lost = all.flatMap(({ fault }) => {
    try {
      mutated(fault)
      return []
    } catch (error) {
      return [(error as Error).message]
    }
  })
  expect(lost).toEqual([])
})

test('a fault that finds no place says which function of which file, and what to do', () => {
  const source = 'const big = (n: number) => n > 9 && n > 99\nclass Big { big() { return 9 } }\nconst none = () => null'
  expect(() => edited('a.ts', source, 'small', drop('operand', '9'))).toThrow(/^a.ts has 0 functions small; write into/)
  expect(() => edited('a.ts', source, 'big', drop('operand', '9'))).toThrow('a.ts has 2 functions big; write into')
  expect(() => edited('a.ts', source, 'none', drop('operand', '9'))).toThrow(
    'none in a.ts: expected one operand with "9", found 0; adapt the edit in the row',
  )
  expect(edited('a.ts', source, 'Big.big', replace('value', 'return', '$ + 1'))).toContain('{ return 9 + 1 }')
})

// All of them: npm run test:mutations. Here one, so that a broken runner of mutations is noticed; FC_SEED chooses one more.
const ONE = '5.6.2'
const { FC_SEED } = process.env
const sample = [
  ...ROWS.filter(({ must }) => must === ONE),
  ...(FC_SEED === undefined ? [] : [all[Math.abs(Number(FC_SEED)) % all.length]!]),
]

// Without some rules a test of theirs waits for ever, and fails only at its own time limit.
const LONGER_THAN_A_TEST_MS = 300_000

test.each(sample.map((row) => [row.says, row] as const))(
  'without the rule its tests fail: %s',
  async (_, row) => {
    const { passed, output } = await runMutated(mutated(row.fault), row.test, row.name)
    expect(passed, output).toBe(false)
    expect(output.replaceAll(/\u001b\[\d+m/g, '')).toMatch(/Tests .*failed/)
  },
  LONGER_THAN_A_TEST_MS,
)
