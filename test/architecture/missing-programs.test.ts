import { expect, test } from 'vitest'
import { PROGRAMS } from '../../.ci/programs.js'
import { missingPrograms, mustBeComplete, programTags } from '../support/programs/missing-programs.ts'

const missing = missingPrograms.map(({ name }) => name)
const present = PROGRAMS.map(({ name }) => name).filter((name) => !missing.includes(name))

test('CI runs only where exactly the programs that TEST_WITHOUT names are missing', () => {
  const inCi = (names: readonly string[]) => () => mustBeComplete({ CI: 'true', TEST_WITHOUT: names.join(' ') })
  expect(inCi(missing)).not.toThrow()
  expect(inCi([...missing, present[0]!])).toThrow('npm run setup')
  for (const name of missing) expect(inCi(missing.filter((other) => other !== name))).toThrow(name)
  expect(() => mustBeComplete({ TEST_WITHOUT: present[0] })).not.toThrow()
})

test('the tag of a missing program skips its tests, and the tag of another one does not revoke that', () => {
  for (const tag of programTags) expect(tag.skip).toBe(missing.includes(tag.name) ? true : undefined)
})
