import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { rightsTable } from '../../../api/operations/access/right-texts.ts'
import { RIGHTS, ROLE_TABLE, ROLES } from '../../../domain/access/rights.ts'

const file = join(import.meta.dirname, '../../../api/docs/access.md')

it('the documentation lists each right with the roles that have it', () => {
  const text = readFileSync(file, 'utf8')
  const written = text.replace(/(<!-- rights -->\n)[\s\S]*?(<!-- \/rights -->)/, `$1${rightsTable()}\n$2`)
  if (process.env.WRITE_REFERENCE) writeFileSync(file, written)
  else expect(text, 'run this test with WRITE_REFERENCE=1').toBe(written)
  const rows = rightsTable().split('\n').slice(2)
  for (const [at, right] of RIGHTS.entries()) {
    const roles = ROLES.filter((role) => ROLE_TABLE[role].includes(right))
    for (const role of ROLES)
      expect(rows[at]!.includes(role) || roles.length === ROLES.length).toBe(roles.includes(role))
  }
})
