import { expect, test } from 'vitest'
import { z } from 'zod'
import { echoList, issuesOf, issuesText } from '../../domain/log/issues.ts'

const said = (schema: z.ZodType, value: unknown) => issuesText(issuesOf(schema.safeParse(value).error!))

test.each([
  ['a value of another list', z.enum(['a', 'b']), 'c', 'expected one of "a", "b"'],
  ['another value than the only one', z.literal('a'), 'c', 'expected "a"'],
  ['another type', z.strictObject({ n: z.int() }), { n: 'x' }, 'n: expected a number'],
  ['a fraction', z.int(), 1.5, 'expected a whole number'],
  ['a missing member', z.strictObject({ n: z.string() }), {}, 'n: is missing; expected a text'],
  ['a long text', z.string().max(2), 'abc', 'expected at most 2 characters'],
  ['an empty text', z.string().min(1), '', 'may not be empty'],
  ['a small number', z.int().min(10), 1, 'expected at least 10'],
  ['a number that is not positive', z.int().positive(), 0, 'expected more than 0'],
  ['a long list', z.array(z.string()).max(1), ['a', 'b'], 'expected at most 1 item'],
  ['no form of a union', z.union([z.string(), z.null()]), 1, 'it has none of the allowed forms'],
])('%s is refused in plain words', (_, schema, value, text) => {
  expect(said(schema, value)).toBe(text)
})

test('the own message of a schema is repeated as it is', () => {
  expect(said(z.string().regex(/^a/, { error: 'expected an a' }), 'b')).toBe('expected an a')
})

test('a list of foreign names is cut, and so is each name', () => {
  expect(echoList(['a', 'b'])).toBe('a, b')
  expect(echoList(['1', '2', '3', '4', '5'])).toBe('1, 2, 3, 4, 5')
  expect(echoList(Array.from({ length: 100_000 }, (_, n) => `t${n}`))).toBe('t0, t1, t2, t3, t4 and 99995 more')
  expect(echoList(['x'.repeat(1_000)])).toBe(`${'x'.repeat(64)}… (1000 characters)`)
})
