import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { isTooBig } from '../../projections/engine/store/damage.ts'
import { damageContract } from '../contracts/projections/damage.ts'
import { projectorContract } from '../contracts/projections/projector.ts'
import { refusedContract, refusing } from '../contracts/projections/refused.ts'
import { sqliteKit } from '../support/projections/kit.ts'

projectorContract(sqliteKit)
damageContract(sqliteKit)
refusedContract(sqliteKit, refusing)

it('what SQLite says of a text that is too long is known', () => {
  const db = new DatabaseSync(':memory:', { limits: { length: 1000 } })
  const thrown = (text: string) => {
    try {
      db.prepare('select ?').get(text)
    } catch (error) {
      return error
    }
    return null
  }
  expect([isTooBig(thrown('x'.repeat(2000))), isTooBig(thrown('x')), isTooBig(new Error('no'))]).toEqual([
    true,
    false,
    false,
  ])
  db.close()
})
