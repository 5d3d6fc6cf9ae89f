import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { delegationOf } from '../../../api/operations/runs/prepare-delegation.ts'
import { ConfigSchema } from '../../../api/process/config/settings.ts'
import { knownRoles } from '../../../api/process/host/known-roles.ts'
import { ROLES } from '../../../domain/agent/definition/roles.ts'
import { freshFolders } from '../../support/folders.ts'

const folders = freshFolders()
afterAll(() => folders.remove())

test('a role file with the name of a built-in role takes its place, for runs and for children', async () => {
  const config = ConfigSchema.parse({ data: folders.data, roles: folders.base })
  const known = () => knownRoles(config, [])
  const children = async () => {
    const asked = { limits: {}, policy: { deniedTools: [] }, workspace: {} }
    return delegationOf(await known(), asked as never)!.roles
  }
  expect((await children()).coder).toEqual(ROLES.coder)
  const phases = [{ name: 'do', allowedTools: ['read_file'] }]
  const file = join(folders.base, 'coder.json')
  writeFileSync(file, JSON.stringify({ name: 'coder', profile: 'Ours', goal: 'Ours', phases, maxReactLoop: 5 }))
  const { roles, faults } = await known()
  expect(faults).toEqual([])
  expect(roles.filter(({ name }) => name === 'coder')).toMatchObject([
    { file, definition: { profile: 'Ours', phases } },
  ])
  const { coder, reviewer } = await children()
  expect([coder?.profile, reviewer]).toEqual(['Ours', ROLES.reviewer])
  // A faulty file must not give the built-in role its place back.
  for (const text of [JSON.stringify({ name: 'coder' }), '{']) {
    writeFileSync(file, text)
    const { roles: left, faults: found } = await known()
    expect([left.some(({ name }) => name === 'coder'), found.length]).toEqual([false, 1])
    expect((await children()).coder).toBeUndefined()
  }
})
