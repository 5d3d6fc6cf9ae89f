import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { anyKindContract } from '../contracts/projections/any-kind.ts'
import { sqliteKit } from '../support/projections/kit.ts'

anyKindContract(sqliteKit)

it('the projector and the stores import no code of agents', () => {
  const root = join(import.meta.dirname, '../../projections')
  const files = globSync(['engine/{projector,store,postgres}/**/*.ts', '*.ts'], { cwd: root }).filter(
    (f) => !['index.ts', 'kinds.ts'].includes(f),
  )
  expect(files.length).toBeGreaterThan(30)
  for (const file of files)
    expect(readFileSync(join(root, file), 'utf8'), file).not.toMatch(/(domain\/agent|agent\/rows)\//)
})
