import { queriesContract } from '../contracts/projections/queries.ts'
import { sqliteKit } from '../support/projections/kit.ts'

queriesContract(sqliteKit)
